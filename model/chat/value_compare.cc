#include "model/chat/value_compare.h"

#include <algorithm>
#include <string>

#include "model/chat/dictionary.h"

namespace ingot::chat {

namespace {

template <class Type>
bool holds(const Type& left, Order order, const Type& right) {
  switch (order) {
    case Order::less: return left < right;
    case Order::less_or_equal: return left <= right;
    case Order::greater: return left > right;
    case Order::greater_or_equal: return left >= right;
  }
  return false;
}

Error no_order(const Value& left, const Value& right) {
  return Error::of(ErrorCode::invalid_argument, "expected values with an order, found ", left.type_name(), " and ",
                   right.type_name());
}

Result<bool> equal_items(const std::vector<Value>& left, const std::vector<Value>& right, Budget& budget) {
  if (left.size() != right.size()) return false;
  for (std::size_t index = 0; index < left.size(); ++index) {
    if (!TRY(equal(left[index], right[index], budget))) return false;
  }
  return true;
}

Result<bool> equal_dictionaries(const Dictionary& left, const Dictionary& right, Budget& budget) {
  if (left.size() != right.size()) return false;
  for (const Dictionary::Entry& entry : left.entries()) {
    const Value* other = right.find(entry.key);
    if (other == nullptr || !TRY(equal(entry.value, *other, budget))) return false;
  }
  return true;
}

bool equal_ranges(const Range& left, const Range& right) {
  const std::int64_t length = left.length();
  if (length != right.length()) return false;
  return length == 0 || (left.start == right.start && (length == 1 || left.step == right.step));
}

}  // namespace

bool truth(const Value& value) {
  switch (value.kind()) {
    case Kind::none:
    case Kind::undefined: return false;
    case Kind::boolean: return value.as_boolean();
    case Kind::integer: return value.as_integer() != 0;
    case Kind::floating: return value.as_floating() != 0;
    case Kind::text: return !value.bytes().empty();
    case Kind::sequence: return !value.items().empty();
    case Kind::dictionary: return value.as_dictionary().size() != 0;
    case Kind::range: return value.as_range().length() != 0;
    case Kind::iterator:
    case Kind::object: return true;
  }
  return false;
}

Result<bool> equal(const Value& left, const Value& right, Budget& budget) {
  TRY(budget.spend_steps(1));
  if (left.is(Kind::floating) || right.is(Kind::floating)) {
    const auto left_number = left.number_value();
    const auto right_number = right.number_value();
    return left_number && right_number && *left_number == *right_number;
  }
  if (const auto left_integer = left.integer_value()) return left_integer == right.integer_value();
  if (left.kind() != right.kind()) return false;
  switch (left.kind()) {
    case Kind::none:
    case Kind::undefined: return true;
    case Kind::text:
      TRY(budget.spend_bytes(std::min(left.bytes().size(), right.bytes().size())));
      return left.bytes() == right.bytes();
    case Kind::sequence:
      if (!(left.is_list() && right.is_list()) && !(left.is_tuple() && right.is_tuple())) {
        return left.is_same_as(right);
      }
      return equal_items(left.items(), right.items(), budget);
    case Kind::dictionary: return equal_dictionaries(left.as_dictionary(), right.as_dictionary(), budget);
    case Kind::range: return equal_ranges(left.as_range(), right.as_range());
    default: return left.is_same_as(right);
  }
}

Result<bool> ordered(const Value& left, Order order, const Value& right, Budget& budget) {
  TRY(budget.spend_steps(1));
  const auto left_integer = left.integer_value();
  const auto right_integer = right.integer_value();
  if (left_integer && right_integer) return holds(*left_integer, order, *right_integer);
  const auto left_number = left.number_value();
  const auto right_number = right.number_value();
  if (left_number && right_number) return holds(*left_number, order, *right_number);
  for (const Value* value : {&left, &right}) {
    if (value->is_undefined()) return Error::of(ErrorCode::invalid_argument, value->undefined_reason());
  }
  if (left.is_text() && right.is_text()) {
    // The order of UTF-8 bytes is the order of code points.
    TRY(budget.spend_bytes(std::min(left.bytes().size(), right.bytes().size())));
    return holds(left.bytes(), order, right.bytes());
  }
  const bool comparable = (left.is_list() && right.is_list()) || (left.is_tuple() && right.is_tuple());
  if (!comparable) return no_order(left, right);
  const std::vector<Value>& left_items = left.items();
  const std::vector<Value>& right_items = right.items();
  for (std::size_t index = 0; index < std::min(left_items.size(), right_items.size()); ++index) {
    if (!TRY(equal(left_items[index], right_items[index], budget))) {
      return ordered(left_items[index], order, right_items[index], budget);
    }
  }
  return holds(left_items.size(), order, right_items.size());
}

Result<bool> contains(const Value& container, const Value& item, Budget& budget) {
  switch (container.kind()) {
    case Kind::undefined: return false;
    case Kind::text:
      if (!item.is_text()) {
        return Error::of(ErrorCode::invalid_argument, "expected a text to look for in a text, found ",
                         item.type_name());
      }
      TRY(budget.spend_search(container.bytes().size(), item.bytes().size()));
      return container.bytes().find(item.bytes()) != std::string::npos;
    case Kind::sequence:
      for (const Value& candidate : container.items()) {
        if (TRY(equal(candidate, item, budget))) return true;
      }
      return false;
    case Kind::dictionary: TRY(expect_key(item)); return container.as_dictionary().find(item) != nullptr;
    case Kind::range: {
      const Range& range = container.as_range();
      const auto number = item.number_value();
      if (!number) return false;
      const auto whole = item.integer_value();
      for (std::int64_t index = 0; index < range.length(); ++index) {
        TRY(budget.spend_steps(1));
        if (whole ? *whole == range.at(index) : *number == static_cast<double>(range.at(index))) return true;
      }
      return false;
    }
    case Kind::iterator: {
      Iterator& iterator = container.as_iterator();
      while (iterator.position < iterator.items.size()) {
        if (TRY(equal(iterator.items[iterator.position++], item, budget))) return true;
      }
      return false;
    }
    default:
      return Error::of(ErrorCode::invalid_argument, "expected something to look in, found ", container.type_name());
  }
}

}  // namespace ingot::chat
