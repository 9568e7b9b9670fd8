#include "model/calls/closed_schema.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "model/chat/dictionary.h"

namespace ingot::calls {
namespace {

using chat::Dictionary;
using chat::Kind;
using chat::Value;

template <std::size_t Count>
bool has_any(const Dictionary& schema, const std::array<std::string_view, Count>& keys) {
  return std::ranges::any_of(keys, [&](std::string_view key) { return schema.find(key) != nullptr; });
}

constexpr std::array<std::string_view, 6> parts_of_one = {
    "allOf", "if", "not", "dependentSchemas", "unevaluatedProperties", "$dynamicRef"};
constexpr std::array<std::string_view, 2> about_properties = {"properties", "required"};
constexpr std::array<std::string_view, 3> alternatives = {"anyOf", "oneOf", "$ref"};
constexpr std::array<std::string_view, 2> other_properties = {"additionalProperties", "patternProperties"};
constexpr std::array<std::string_view, 3> named_schemas = {"properties", "$defs", "definitions"};
constexpr std::array<std::string_view, 3> schemas = {"items", "additionalProperties", "contains"};
constexpr std::array<std::string_view, 3> lists_of_schemas = {"anyOf", "oneOf", "prefixItems"};

// Whether several schemas tell of one object, somewhere.
bool tells_in_parts(const Value& value) {
  if (value.is_list()) return std::ranges::any_of(value.items(), tells_in_parts);
  if (!value.is(Kind::dictionary)) return false;
  const Dictionary& schema = value.as_dictionary();
  if (has_any(schema, parts_of_one)) return true;
  if (has_any(schema, alternatives) && has_any(schema, about_properties)) return true;
  return std::ranges::any_of(schema.entries(), [](const auto& entry) { return tells_in_parts(entry.value); });
}

template <std::size_t Count>
bool is_one_of(std::string_view key, const std::array<std::string_view, Count>& keys) {
  return std::ranges::find(keys, key) != keys.end();
}

Value closed(const Value& value);

Value closed_entry(std::string_view key, const Value& value) {
  if (is_one_of(key, schemas)) return closed(value);
  if (is_one_of(key, lists_of_schemas) && value.is_list()) {
    std::vector<Value> made;
    for (const Value& item : value.items()) made.push_back(closed(item));
    return Value::list(std::move(made));
  }
  if (is_one_of(key, named_schemas) && value.is(Kind::dictionary)) {
    Dictionary made;
    for (const auto& entry : value.as_dictionary().entries()) made.insert(entry.key.bytes(), closed(entry.value));
    return Value::dictionary(std::move(made));
  }
  return value;
}

Value closed(const Value& value) {
  if (!value.is(Kind::dictionary)) return value;
  const Dictionary& schema = value.as_dictionary();
  Dictionary made;
  for (const auto& entry : schema.entries()) {
    made.insert(entry.key.bytes(), closed_entry(entry.key.bytes(), entry.value));
  }
  if (schema.find("properties") != nullptr && !has_any(schema, other_properties)) {
    made.insert("additionalProperties", Value::boolean(false));
  }
  return Value::dictionary(std::move(made));
}

}  // namespace

Value closed_schema(const Value& schema) { return tells_in_parts(schema) ? schema : closed(schema); }

}  // namespace ingot::calls
