#include "model/chat/functions/methods.h"

#include <algorithm>
#include <cmath>

#include "model/chat/access.h"
#include "model/chat/dictionary.h"
#include "model/chat/runtime.h"
#include "model/chat/value_compare.h"

namespace ingot::chat {

namespace {

Result<Value> sequence_index(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const BoundArguments bound = TRY(bind("index", arguments, {"value", "start", "stop"}, 1));
  const auto length = static_cast<std::int64_t>(self.items().size());
  const auto adjusted = [length](std::int64_t place) {
    return std::clamp<std::int64_t>(place < 0 ? place + length : place, 0, length);
  };
  const std::int64_t start = adjusted(TRY(bound.integer(1, 0)));
  const std::int64_t stop = adjusted(TRY(bound.integer(2, length)));
  for (std::int64_t index = start; index < stop; ++index) {
    if (TRY(equal(self.items()[static_cast<std::size_t>(index)], bound[0], runtime.budget)))
      return Value::integer(index);
  }
  return Error::of(ErrorCode::not_found, "expected the value to be in the ", self.type_name(), ", found it absent");
}

Result<Value> sequence_count(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const BoundArguments bound = TRY(bind("count", arguments, {"value"}, 1));
  std::int64_t count = 0;
  for (const Value& item : self.items()) count += TRY(equal(item, bound[0], runtime.budget)) ? 1 : 0;
  return Value::integer(count);
}

Result<Value> range_index(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const Value list = Value::list(TRY(items_of(self, runtime)));
  return sequence_index(runtime, list, arguments);
}

Result<Value> range_count(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const Value list = Value::list(TRY(items_of(self, runtime)));
  return sequence_count(runtime, list, arguments);
}

Result<Value> copy(Runtime&, const Value& self, const Arguments& arguments) {
  TRY(bind("copy", arguments, {}));
  return self;
}

Result<Value> dictionary_get(Runtime&, const Value& self, const Arguments& arguments) {
  // Python takes these two by position alone.
  if (!arguments.named.empty()) {
    return Error::of(ErrorCode::invalid_argument, "expected no arguments by name of get, found '",
                     arguments.named[0].first, "'");
  }
  const BoundArguments bound = TRY(bind("get", arguments, {"key", "default"}, 1));
  TRY(expect_key(bound[0]));
  const Value* found = self.as_dictionary().find(bound[0]);
  return found == nullptr ? bound[1] : *found;
}

template <SequenceForm form>
Result<Value> dictionary_view(Runtime& runtime, const Value& self, const Arguments& arguments) {
  TRY(bind("items", arguments, {}));
  const Dictionary& dictionary = self.as_dictionary();
  TRY(runtime.budget.spend_steps(dictionary.size()));
  TRY(runtime.budget.spend_bytes(dictionary.size() * 4 * sizeof(Value)));
  if (form == SequenceForm::keys) return Value::sequence(form, dictionary.keys());
  if (form == SequenceForm::values) return Value::sequence(form, dictionary.values());
  return Value::sequence(form, dictionary.pairs());
}

Result<Value> is_integer(Runtime&, const Value& self, const Arguments& arguments) {
  TRY(bind("is_integer", arguments, {}));
  return Value::boolean(std::isfinite(self.as_floating()) && self.as_floating() == std::floor(self.as_floating()));
}

Result<Value> bit_length(Runtime&, const Value& self, const Arguments& arguments) {
  TRY(bind("bit_length", arguments, {}));
  const std::int64_t value = *self.integer_value();
  auto magnitude = static_cast<std::uint64_t>(value);
  if (value < 0) magnitude = std::uint64_t{0} - magnitude;
  std::int64_t bits = 0;
  for (; magnitude != 0; magnitude >>= 1) ++bits;
  return Value::integer(bits);
}

constexpr Method list_methods[] = {{"index", sequence_index}, {"count", sequence_count}, {"copy", copy}};
constexpr Method range_methods[] = {{"index", range_index}, {"count", range_count}};
constexpr Method tuple_methods[] = {{"index", sequence_index}, {"count", sequence_count}};
constexpr Method dictionary_methods[] = {
    {"get", dictionary_get},
    {"items", dictionary_view<SequenceForm::items>},
    {"keys", dictionary_view<SequenceForm::keys>},
    {"values", dictionary_view<SequenceForm::values>},
    {"copy", copy},
};
constexpr Method float_methods[] = {{"is_integer", is_integer}};
constexpr Method integer_methods[] = {{"bit_length", bit_length}};

MethodFunction find_in(std::span<const Method> methods, std::string_view name) {
  for (const Method& method : methods) {
    if (method.name == name) return method.function;
  }
  return nullptr;
}

}  // namespace

MethodFunction find_method(const Value& value, std::string_view name) {
  switch (value.kind()) {
    case Kind::text:
      for (const auto& methods : {text_methods(), text_search_methods(), text_class_methods()}) {
        if (const MethodFunction method = find_in(methods, name)) return method;
      }
      return nullptr;
    case Kind::sequence:
      if (value.is_list()) return find_in(list_methods, name);
      return value.is_tuple() ? find_in(tuple_methods, name) : nullptr;
    case Kind::dictionary: return find_in(dictionary_methods, name);
    case Kind::range: return find_in(range_methods, name);
    case Kind::floating: return find_in(float_methods, name);
    case Kind::boolean:
    case Kind::integer: return find_in(integer_methods, name);
    default: return nullptr;
  }
}

bool is_altering_method(const Value& value, std::string_view name) {
  static constexpr std::string_view of_lists[] = {"append", "clear", "pop",    "reverse",
                                                  "insert", "sort",  "extend", "remove"};
  static constexpr std::string_view of_dictionaries[] = {"clear", "pop", "popitem", "setdefault", "update"};
  if (value.is_list()) return std::find(std::begin(of_lists), std::end(of_lists), name) != std::end(of_lists);
  if (!value.is(Kind::dictionary)) return false;
  return std::find(std::begin(of_dictionaries), std::end(of_dictionaries), name) != std::end(of_dictionaries);
}

}  // namespace ingot::chat
