// Filters of lists and other things to loop over: sort, join, first, unique, groupby and their like.
#include <algorithm>
#include <set>

#include "model/chat/access.h"
#include "model/chat/arithmetic.h"
#include "model/chat/dictionary.h"
#include "model/chat/functions/attribute_path.h"
#include "model/chat/functions/filters.h"
#include "model/chat/ordering.h"
#include "model/chat/runtime.h"
#include "model/chat/text_parts.h"
#include "model/chat/value_compare.h"
#include "model/chat/value_text.h"

namespace ingot::chat {

namespace {

LetterCase letter_case_of(const BoundArguments& bound, std::size_t index) {
  return bound.flag(index, false) ? LetterCase::matters : LetterCase::is_ignored;
}

Result<std::vector<Value>> keys_of(const std::vector<Value>& items, const AttributePath& path, LetterCase letter_case,
                                   Runtime& runtime, const Value& otherwise = {}) {
  std::vector<Value> keys;
  keys.reserve(items.size());
  for (const Value& item : items) keys.push_back(TRY(path.follow(item, letter_case, runtime, otherwise)));
  return keys;
}

std::vector<Value> in_order(const std::vector<Value>& items, const std::vector<std::size_t>& order) {
  std::vector<Value> sorted;
  sorted.reserve(items.size());
  for (std::size_t index : order) sorted.push_back(items[index]);
  return sorted;
}

Direction direction_of(bool is_reverse) { return is_reverse ? Direction::descending : Direction::ascending; }

Result<Value> length(Runtime&, const Value& subject, const Arguments& arguments) {
  TRY(bind("length", arguments, {}));
  return Value::integer(TRY(length_of(subject)));
}

Result<Value> first(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  TRY(bind("first", arguments, {}));
  if (subject.is(Kind::iterator)) {
    Iterator& iterator = subject.as_iterator();
    if (iterator.position < iterator.items.size()) return iterator.items[iterator.position++];
  }
  const std::vector<Value> items = TRY(items_of(subject, runtime));
  return items.empty() ? Value::undefined("expected a first item, found an empty sequence") : items.front();
}

Result<Value> last(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  TRY(bind("last", arguments, {}));
  if (subject.is(Kind::iterator)) {
    return Error::of(ErrorCode::invalid_argument, "expected a sequence with an end, found ", subject.type_name());
  }
  const std::vector<Value> items = TRY(items_of(subject, runtime));
  return items.empty() ? Value::undefined("expected a last item, found an empty sequence") : items.back();
}

Result<Value> list(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  TRY(bind("list", arguments, {}));
  return Value::list(TRY(items_of(subject, runtime)));
}

Result<Value> reverse(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  TRY(bind("reverse", arguments, {}));
  if (subject.is_text()) return slice(subject, Value(), Value(), Value::integer(-1), runtime);
  std::vector<Value> items = TRY(items_of(subject, runtime));
  std::reverse(items.begin(), items.end());
  return subject.is(Kind::iterator) ? Value::list(std::move(items)) : Value::iterator(std::move(items));
}

Result<Value> join_filter(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  const BoundArguments bound = TRY(bind("join", arguments, {"d", "attribute"}));
  const MarkedText separator = bound.has(0) ? TRY(marked_text_of(bound[0], runtime)) : MarkedText();
  std::vector<Value> items = TRY(items_of(subject, runtime));
  const AttributePath path = TRY(AttributePath::parse(bound[1]));
  items = TRY(keys_of(items, path, LetterCase::matters, runtime));
  return Value::text(TRY(join(items, separator, runtime)));
}

// "a,b" sorts by a, then by b. Python compares lists of these, so two equal keys without an order are no error.
Result<std::vector<AttributePath>> paths_of(const Value& attribute) {
  std::vector<AttributePath> paths;
  if (!attribute.is_text()) {
    paths.push_back(TRY(AttributePath::parse(attribute)));
    return paths;
  }
  std::string_view rest = attribute.bytes();
  while (true) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    paths.push_back(TRY(AttributePath::parse(Value::text(std::string(rest.substr(0, end))))));
    if (end == rest.size()) return paths;
    rest.remove_prefix(end + 1);
  }
}

Result<Value> sort(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  const BoundArguments bound = TRY(bind("sort", arguments, {"reverse", "case_sensitive", "attribute"}));
  const std::vector<Value> items = TRY(items_of(subject, runtime));
  const std::vector<AttributePath> paths = TRY(paths_of(bound[2]));
  std::vector<Value> keys;
  for (const Value& item : items) {
    std::vector<Value> key;
    for (const AttributePath& path : paths) key.push_back(TRY(path.follow(item, letter_case_of(bound, 1), runtime)));
    TRY(runtime.budget.spend_bytes(sizeof(Sequence) + key.size() * sizeof(Value)));
    keys.push_back(Value::list(std::move(key)));
  }
  return Value::list(in_order(items, TRY(sorted_order(keys, direction_of(bound.flag(0, false)), runtime.budget))));
}

Result<Value> dictsort(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  const BoundArguments bound = TRY(bind("dictsort", arguments, {"case_sensitive", "by", "reverse"}));
  if (subject.is_undefined()) return Error::of(ErrorCode::invalid_argument, subject.undefined_reason());
  if (!subject.is(Kind::dictionary)) {
    return Error::of(ErrorCode::invalid_argument, "expected a dictionary to sort, found ", subject.type_name());
  }
  const std::string by = TRY(bound.text(1, "key"));
  if (by != "key" && by != "value") {
    return Error::of(ErrorCode::invalid_argument, "expected to sort by key or value, found '", by, "'");
  }
  const std::vector<Value> pairs = subject.as_dictionary().pairs();
  TRY(runtime.budget.spend_bytes(pairs.size() * 8 * sizeof(Value)));
  const AttributePath path = TRY(AttributePath::parse(Value::integer(by == "key" ? 0 : 1)));
  const std::vector<Value> keys = TRY(keys_of(pairs, path, letter_case_of(bound, 0), runtime));
  return Value::list(in_order(pairs, TRY(sorted_order(keys, direction_of(bound.flag(2, false)), runtime.budget))));
}

Result<Value> items(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  TRY(bind("items", arguments, {}));
  if (subject.is_undefined()) return Value::iterator({});
  if (!subject.is(Kind::dictionary)) {
    return Error::of(ErrorCode::invalid_argument, "expected a dictionary, found ", subject.type_name());
  }
  TRY(runtime.budget.spend_bytes(subject.as_dictionary().size() * 8 * sizeof(Value)));
  return Value::iterator(subject.as_dictionary().pairs());
}

Result<Value> unique(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  const BoundArguments bound = TRY(bind("unique", arguments, {"case_sensitive", "attribute"}));
  const AttributePath path = TRY(AttributePath::parse(bound[1]));
  std::set<std::string> seen;
  std::vector<Value> kept;
  for (const Value& item : TRY(items_of(subject, runtime))) {
    std::string code = key_code(TRY(path.follow(item, letter_case_of(bound, 0), runtime)));
    if (code.empty()) {
      return Error::of(ErrorCode::invalid_argument, "expected values that can be keys, found ", item.type_name());
    }
    TRY(runtime.budget.spend_bytes(code.size()));
    if (seen.insert(std::move(code)).second) kept.push_back(item);
  }
  return Value::iterator(std::move(kept));
}

template <Order order>
Result<Value> extreme(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  const BoundArguments bound = TRY(bind("min or max", arguments, {"case_sensitive", "attribute"}));
  const std::vector<Value> candidates = TRY(items_of(subject, runtime));
  if (candidates.empty()) return Value::undefined("expected an item to choose, found an empty sequence");
  const AttributePath path = TRY(AttributePath::parse(bound[1]));
  const std::vector<Value> keys = TRY(keys_of(candidates, path, letter_case_of(bound, 0), runtime));
  std::size_t best = 0;
  for (std::size_t index = 1; index < keys.size(); ++index) {
    if (TRY(ordered(keys[index], order, keys[best], runtime.budget))) best = index;
  }
  return candidates[best];
}

Result<Value> sum(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  const BoundArguments bound = TRY(bind("sum", arguments, {"attribute", "start"}));
  const AttributePath path = TRY(AttributePath::parse(bound[0]));
  Value total = bound.has(1) ? bound[1] : Value::integer(0);
  if (total.is_text()) return Error::of(ErrorCode::invalid_argument, "expected no text to start a sum, found one");
  for (const Value& item : TRY(items_of(subject, runtime))) {
    const Value summand = TRY(path.follow(item, LetterCase::matters, runtime));
    total = TRY(binary_operation(BinaryOperator::add, total, summand, runtime));
  }
  return total;
}

Result<Value> groupby(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  const BoundArguments bound = TRY(bind("groupby", arguments, {"attribute", "default", "case_sensitive"}, 1));
  const AttributePath path = TRY(AttributePath::parse(bound[0]));
  const std::vector<Value> members = TRY(items_of(subject, runtime));
  const std::vector<Value> keys = TRY(keys_of(members, path, letter_case_of(bound, 2), runtime, bound[1]));
  const std::vector<std::size_t> order = TRY(sorted_order(keys, Direction::ascending, runtime.budget));
  std::vector<Value> groups;
  for (std::size_t start = 0; start < order.size();) {
    std::vector<Value> group;
    std::size_t end = start;
    while (end < order.size() && TRY(equal(keys[order[end]], keys[order[start]], runtime.budget))) {
      group.push_back(members[order[end++]]);
    }
    if (end == start) group.push_back(members[order[end++]]);  // not even equal to itself
    // The name of a group is spelled as its first member spells it.
    Value grouper = TRY(path.follow(group.front(), LetterCase::matters, runtime, bound[1]));
    groups.push_back(Value::sequence(SequenceForm::group, {std::move(grouper), Value::list(std::move(group))}));
    start = end;
  }
  return Value::list(std::move(groups));
}

Result<Value> batch(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  const BoundArguments bound = TRY(bind("batch", arguments, {"linecount", "fill_with"}, 1));
  const std::int64_t size = TRY(bound.integer(0, 0));
  std::vector<Value> batches;
  std::vector<Value> current;
  for (const Value& item : TRY(items_of(subject, runtime))) {
    if (static_cast<std::int64_t>(current.size()) == size) {
      batches.push_back(Value::list(std::exchange(current, {})));
    }
    current.push_back(item);
  }
  if (!current.empty()) {
    const std::int64_t missing = size - static_cast<std::int64_t>(current.size());
    if (!bound[1].is_none() && missing > 0) {
      TRY(runtime.budget.spend_bytes(static_cast<std::uint64_t>(missing) * sizeof(Value)));
      current.insert(current.end(), static_cast<std::size_t>(missing), bound[1]);
    }
    batches.push_back(Value::list(std::move(current)));
  }
  return Value::iterator(std::move(batches));
}

Result<Value> slice_filter(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  const BoundArguments bound = TRY(bind("slice", arguments, {"slices", "fill_with"}, 1));
  const std::int64_t count = TRY(bound.integer(0, 0));
  const std::vector<Value> whole = TRY(items_of(subject, runtime));
  if (count == 0) return Error::of(ErrorCode::invalid_argument, "expected a number of slices, found 0");
  if (count < 0) return Value::iterator({});
  TRY(runtime.budget.spend_steps(static_cast<std::uint64_t>(count)));
  TRY(runtime.budget.spend_bytes(static_cast<std::uint64_t>(count) * sizeof(Sequence)));
  const std::int64_t each = static_cast<std::int64_t>(whole.size()) / count;
  const std::int64_t longer = static_cast<std::int64_t>(whole.size()) % count;
  std::vector<Value> slices;
  auto start = whole.begin();
  for (std::int64_t index = 0; index < count; ++index) {
    const auto end = start + each + (index < longer ? 1 : 0);
    std::vector<Value> part(start, end);
    if (!bound[1].is_none() && index >= longer) part.push_back(bound[1]);
    slices.push_back(Value::list(std::move(part)));
    start = end;
  }
  return Value::iterator(std::move(slices));
}

constexpr Filter filters[] = {
    {"batch", batch},
    {"count", length},
    {"dictsort", dictsort},
    {"first", first},
    {"groupby", groupby},
    {"items", items},
    {"join", join_filter},
    {"last", last},
    {"length", length},
    {"list", list},
    {"max", extreme<Order::greater>},
    {"min", extreme<Order::less>},
    {"reverse", reverse},
    {"slice", slice_filter},
    {"sort", sort},
    {"sum", sum},
    {"unique", unique},
};

}  // namespace

std::span<const Filter> sequence_filters() { return filters; }

}  // namespace ingot::chat
