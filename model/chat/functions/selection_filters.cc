// Filters that apply another filter or a test to every item, and those that choose between values.
#include "model/chat/access.h"
#include "model/chat/functions/attribute_path.h"
#include "model/chat/functions/filters.h"
#include "model/chat/functions/predicates.h"
#include "model/chat/runtime.h"
#include "model/chat/value_compare.h"

namespace ingot::chat {

namespace {

Result<Value> default_filter(Runtime&, const Value& subject, const Arguments& arguments) {
  const BoundArguments bound = TRY(bind("default", arguments, {"default_value", "boolean"}));
  const bool is_replaced = subject.is_undefined() || (bound.flag(1, false) && !truth(subject));
  if (!is_replaced) return subject;
  return bound.has(0) ? bound[0] : Value::text("");
}

Result<Value> attr(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  const BoundArguments bound = TRY(bind("attr", arguments, {"name"}, 1));
  return get_attribute_only(subject, TRY(bound.text(0, "")), runtime);
}

const Value* find_named(const Arguments& arguments, std::string_view name) {
  for (const auto& [known, value] : arguments.named) {
    if (known == name) return &value;
  }
  return nullptr;
}

Arguments without_first(const Arguments& arguments, std::size_t count) {
  Arguments rest = arguments;
  rest.positional.erase(rest.positional.begin(), rest.positional.begin() + static_cast<std::ptrdiff_t>(count));
  return rest;
}

Result<Value> map_attribute(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  const BoundArguments bound = TRY(bind("map", arguments, {"attribute", "default"}));
  const AttributePath path = TRY(AttributePath::parse(bound[0]));
  std::vector<Value> mapped;
  for (const Value& item : TRY(items_of(subject, runtime))) {
    mapped.push_back(TRY(path.follow(item, LetterCase::matters, runtime, bound[1])));
  }
  return Value::iterator(std::move(mapped));
}

Result<Value> map(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  if (!truth(subject)) return Value::iterator({});
  if (arguments.positional.empty() && find_named(arguments, "attribute") != nullptr) {
    return map_attribute(runtime, subject, arguments);
  }
  if (arguments.positional.empty() || !arguments.positional[0].is_text()) {
    return Error::of(ErrorCode::invalid_argument, "expected the name of a filter to map, found none");
  }
  const std::string& name = arguments.positional[0].bytes();
  const FilterFunction filter = find_filter(name);
  if (filter == nullptr) return Error::of(ErrorCode::not_found, "expected a filter, found '", name, "'");
  const Arguments rest = without_first(arguments, 1);
  const Runtime::Level level(runtime);
  TRY(level.check());
  std::vector<Value> mapped;
  for (const Value& item : TRY(items_of(subject, runtime))) mapped.push_back(TRY(filter(runtime, item, rest)));
  return Value::iterator(std::move(mapped));
}

enum class Looks : std::uint8_t { at_item, at_attribute };

// Items for which the test holds (or fails); without a test, those that are true (or not).
template <bool keeps, Looks looks>
Result<Value> choose(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  if (!truth(subject)) return Value::iterator({});
  constexpr std::size_t test_place = looks == Looks::at_attribute ? 1 : 0;
  if (arguments.positional.size() < test_place) {
    return Error::of(ErrorCode::invalid_argument, "expected the name of an attribute, found none");
  }
  const AttributePath path = TRY(AttributePath::parse(test_place == 1 ? arguments.positional[0] : Value()));
  PredicateFunction predicate = nullptr;
  Arguments rest;
  if (arguments.positional.size() > test_place) {
    const Value& name = arguments.positional[test_place];
    if (name.is_text()) predicate = find_predicate(name.bytes());
    if (predicate == nullptr) {
      return Error::of(ErrorCode::not_found, "expected the name of a test, found '",
                       name.is_text() ? std::string_view(name.bytes()) : name.type_name(), "'");
    }
    rest = without_first(arguments, test_place + 1);
  }
  std::vector<Value> kept;
  for (const Value& item : TRY(items_of(subject, runtime))) {
    const Value value = TRY(path.follow(item, LetterCase::matters, runtime));
    const bool holds = predicate == nullptr ? truth(value) : TRY(predicate(runtime, value, rest));
    if (holds == keeps) kept.push_back(item);
  }
  return Value::iterator(std::move(kept));
}

constexpr Filter filters[] = {
    {"attr", attr},
    {"d", default_filter},
    {"default", default_filter},
    {"map", map},
    {"reject", choose<false, Looks::at_item>},
    {"rejectattr", choose<false, Looks::at_attribute>},
    {"select", choose<true, Looks::at_item>},
    {"selectattr", choose<true, Looks::at_attribute>},
};

}  // namespace

std::span<const Filter> selection_filters() { return filters; }

}  // namespace ingot::chat
