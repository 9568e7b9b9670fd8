#include "model/chat/value.h"

#include <algorithm>

#include "model/chat/dictionary.h"
#include "model/chat/object.h"
#include "model/chat/template_text.h"

namespace ingot::chat {

namespace {

int depth_over(const std::vector<Value>& items) {
  int deepest = 0;
  for (const Value& item : items) deepest = std::max(deepest, item.depth());
  return deepest + 1;
}

bool any_marked(const std::vector<Value>& items) {
  return std::any_of(items.begin(), items.end(), [](const Value& item) { return item.is_marked(); });
}

}  // namespace

Value Value::undefined(std::string reason) {
  return Value(Storage(std::make_shared<const std::string>(std::move(reason))));
}

Value Value::floating(double value, std::string spelling) {
  return Value(Storage(std::make_shared<const SpelledNumber>(SpelledNumber{value, std::move(spelling)})));
}

double Value::as_floating() const {
  const double* value = std::get_if<double>(&storage_);
  return value != nullptr ? *value : (**std::get_if<spelled_index>(&storage_)).value;
}

std::string_view Value::spelling() const {
  const auto* spelled = std::get_if<spelled_index>(&storage_);
  return spelled != nullptr ? std::string_view((*spelled)->spelling) : std::string_view();
}

Value Value::text(std::string value) { return text_like({std::move(value)}, false); }
Value Value::text_like(MarkedText value, bool is_markup) {
  const std::size_t length = count_code_points(value.bytes);
  return Value(Storage(std::make_shared<const Text>(Text{std::move(value), length, is_markup})));
}

Value part_of(const Value& text, std::string_view part) {
  return Value::text_like(text.as_text().part(part), text.as_text().is_markup);
}

Value changed(const Value& text, std::string made, bool of_marked) {
  const Text& old = text.as_text();
  return Value::text_like(MarkedText::made(std::move(made), old.is_marked() || of_marked), old.is_markup);
}

Value recased(const Value& text, std::string made) {
  const Text& old = text.as_text();
  // A letter of ASCII stays where it was; others may become longer or shorter.
  if (!old.is_ascii() || made.size() != old.bytes.size()) return changed(text, std::move(made));
  return Value::text_like({std::move(made), old.marks}, old.is_markup);
}

Value Value::sequence(SequenceForm form, std::vector<Value> items) {
  const int depth = depth_over(items);
  const bool is_marked = any_marked(items);
  return Value(Storage(std::make_shared<const Sequence>(Sequence{form, std::move(items), depth, is_marked})));
}

Value Value::dictionary(Dictionary value) {
  return Value(Storage(std::make_shared<const Dictionary>(std::move(value))));
}

Value Value::range(Range value) { return Value(Storage(std::make_shared<const Range>(value))); }

Value Value::iterator(std::vector<Value> items) {
  const int depth = depth_over(items);
  const bool is_marked = any_marked(items);
  return Value(Storage(std::make_shared<Iterator>(Iterator{std::move(items), 0, depth, is_marked})));
}

bool Value::is_list() const { return is(Kind::sequence) && as_sequence().form == SequenceForm::list; }
bool Value::is_tuple() const {
  return is(Kind::sequence) && (as_sequence().form == SequenceForm::tuple || as_sequence().form == SequenceForm::group);
}

const std::string& Value::bytes() const { return as_text().bytes; }
const std::vector<Value>& Value::items() const { return as_sequence().items; }

std::optional<std::int64_t> Value::integer_value() const {
  if (is(Kind::boolean)) return as_boolean() ? 1 : 0;
  if (is(Kind::integer)) return as_integer();
  return std::nullopt;
}

std::optional<double> Value::number_value() const {
  if (is(Kind::floating)) return as_floating();
  if (const auto integer = integer_value()) return static_cast<double>(*integer);
  return std::nullopt;
}

int Value::depth() const {
  switch (kind()) {
    case Kind::sequence: return as_sequence().depth;
    case Kind::dictionary: return as_dictionary().depth();
    case Kind::iterator: return as_iterator().depth;
    case Kind::object: return as_object()->depth();
    default: return 0;
  }
}

bool Value::is_marked() const {
  switch (kind()) {
    case Kind::text: return as_text().is_marked();
    case Kind::sequence: return as_sequence().is_marked;
    case Kind::dictionary: return as_dictionary().is_marked();
    case Kind::iterator: return as_iterator().is_marked;
    case Kind::object: return true;
    default: return false;
  }
}

bool Value::is_same_as(const Value& other) const {
  if (kind() != other.kind()) return false;
  if (is_text()) return bytes() == other.bytes();
  if (is(Kind::floating)) return as_floating() == other.as_floating();
  return storage_ == other.storage_;
}

std::string_view Value::type_name() const {
  switch (kind()) {
    case Kind::none: return "None";
    case Kind::undefined: return "Undefined";
    case Kind::boolean: return "bool";
    case Kind::integer: return "int";
    case Kind::floating: return "float";
    case Kind::text: return "str";
    case Kind::sequence:
      switch (as_sequence().form) {
        case SequenceForm::list: return "list";
        case SequenceForm::tuple:
        case SequenceForm::group: return "tuple";
        case SequenceForm::keys: return "dict_keys";
        case SequenceForm::values: return "dict_values";
        case SequenceForm::items: return "dict_items";
      }
      return "list";
    case Kind::dictionary: return "dict";
    case Kind::range: return "range";
    case Kind::iterator: return "generator";
    case Kind::object: return as_object()->type_name();
  }
  return "object";
}

std::int64_t Range::length() const {
  // Unsigned differences, because stop - start may exceed the signed range.
  if (step > 0 && start < stop) {
    const auto reach = static_cast<std::uint64_t>(stop) - static_cast<std::uint64_t>(start) - 1;
    return static_cast<std::int64_t>(std::min<std::uint64_t>(reach / static_cast<std::uint64_t>(step), INT64_MAX - 1)) +
           1;
  }
  if (step < 0 && start > stop) {
    const auto reach = static_cast<std::uint64_t>(start) - static_cast<std::uint64_t>(stop) - 1;
    const auto stride = std::uint64_t{0} - static_cast<std::uint64_t>(step);
    return static_cast<std::int64_t>(std::min<std::uint64_t>(reach / stride, INT64_MAX - 1)) + 1;
  }
  return 0;
}

}  // namespace ingot::chat
