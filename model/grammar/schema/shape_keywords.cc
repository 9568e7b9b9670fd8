#include "model/grammar/schema/shape_keywords.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <unordered_set>

#include "model/chat/dictionary.h"

namespace ingot::grammar {

namespace {

using chat::Kind;
using chat::Value;

constexpr std::array<std::pair<std::string_view, std::uint8_t>, 7> type_names{{{"null", null_type},
                                                                               {"boolean", boolean_type},
                                                                               {"number", number_type},
                                                                               {"integer", number_type},
                                                                               {"string", text_type},
                                                                               {"array", array_type},
                                                                               {"object", object_type}}};

Result<void> apply_type(const SchemaPlace& schema, const Value& value, Shape& shape) {
  std::uint8_t types = 0;
  bool has_number = false, has_integer = false;
  const auto add = [&](const Value& name) -> Result<void> {
    const auto* known = std::ranges::find_if(
        type_names, [&](const auto& type) { return name.is_text() && type.first == name.bytes(); });
    if (known == type_names.end()) {
      constexpr std::size_t most_shown = 40;
      const bool is_shown = name.is_text() && name.bytes().size() <= most_shown;
      const std::string found = is_shown ? ", found " + canonical_json(name) : "";
      return error_at(schema, "type", "one of the seven types, or a list of them" + found);
    }
    types |= known->second;
    has_number = has_number || known->first == "number";
    has_integer = has_integer || known->first == "integer";
    return {};
  };
  if (value.is_list()) {
    for (const Value& name : value.items()) TRY(add(name));
  } else {
    TRY(add(value));
  }
  shape.types &= types;
  shape.number.is_whole = shape.number.is_whole || (has_integer && !has_number);
  return {};
}

void narrow(std::optional<NumberBound>& bound, const NumberBound& other, int direction) {
  const int order = bound ? direction * compare(other.value, bound->value) : 1;
  if (order > 0 || (order == 0 && other.is_exclusive)) bound = other;
}

Result<bool> apply_to_number(const SchemaPlace& schema, std::string_view keyword, const Value& value, Shape& shape) {
  if (value.is(Kind::boolean) && keyword.starts_with("exclusive")) {
    // Draft 4: it is said of the bound that stands beside it.
    const bool is_least = keyword == "exclusiveMinimum";
    const Value* bound = schema.value->as_dictionary().find(is_least ? "minimum" : "maximum");
    if (!value.as_boolean() || bound == nullptr) return true;
    const NumberBound exclusive{TRY(decimal(schema, keyword, *bound)), true};
    is_least ? narrow_least(shape.number, exclusive) : narrow_most(shape.number, exclusive);
  } else if (keyword == "minimum" || keyword == "exclusiveMinimum") {
    narrow_least(shape.number, {TRY(decimal(schema, keyword, value)), keyword != "minimum"});
  } else if (keyword == "maximum" || keyword == "exclusiveMaximum") {
    narrow_most(shape.number, {TRY(decimal(schema, keyword, value)), keyword != "maximum"});
  } else if (keyword == "multipleOf") {
    const Decimal divisor = TRY(decimal(schema, keyword, value));
    const bool is_other = shape.number.multiple_of && compare(shape.number.multiple_of->value, divisor) != 0;
    if (divisor.is_negative || divisor.is_zero() || is_other) return error_at(schema, keyword, "one positive divisor");
    shape.number.multiple_of = Divisor{divisor, schema.pointer};
  } else {
    return false;
  }
  return true;
}

Result<bool> apply_to_text(const SchemaPlace& schema, std::string_view keyword, const Value& value, Shape& shape) {
  if (keyword == "minLength") {
    shape.text.least = std::max(shape.text.least, TRY(whole_number(schema, keyword, value)));
  } else if (keyword == "maxLength") {
    shape.text.most = std::min(shape.text.most, TRY(whole_number(schema, keyword, value)));
  } else if (keyword == "pattern" || keyword == "format") {
    if (!value.is_text()) return error_at(schema, keyword, "a text");
    shape.text.patterns.push_back({value.bytes(), keyword == "format", schema.pointer});
  } else {
    return false;
  }
  return true;
}

Result<bool> apply_to_containers(const SchemaPlace& schema, std::string_view keyword, const Value& value,
                                 Shape& shape) {
  if (keyword == "minItems") {
    shape.least_items = std::max(shape.least_items, TRY(whole_number(schema, keyword, value)));
  } else if (keyword == "maxItems") {
    shape.most_items = std::min(shape.most_items, TRY(whole_number(schema, keyword, value)));
  } else if (keyword == "minProperties") {
    const std::uint32_t least = TRY(whole_number(schema, keyword, value));
    if (least > shape.least_properties) shape.least_properties_pointer = schema.pointer;
    shape.least_properties = std::max(shape.least_properties, least);
  } else if (keyword == "maxProperties") {
    shape.most_properties = std::min(shape.most_properties, TRY(whole_number(schema, keyword, value)));
  } else if (keyword == "required") {
    TRY(add_names(schema, keyword, value, shape.required));
  } else if (keyword == "propertyNames") {
    shape.names.push_back(schema.below(keyword, value));
  } else if (keyword == "uniqueItems" || keyword == "unevaluatedItems" || keyword == "unevaluatedProperties") {
    // What changes nothing is enforced.
    return value.is(Kind::boolean) && value.as_boolean() == (keyword != "uniqueItems");
  } else {
    return false;
  }
  return true;
}

Result<void> apply_values(const SchemaPlace& schema, std::string_view keyword, const Value& value, Shape& shape) {
  std::vector<Value> values{value};
  if (keyword == "enum") {
    if (!value.is_list()) return error_at(schema, keyword, "a list of values");
    values = value.items();
  }
  if (shape.values) {
    std::unordered_set<std::string> others;
    for (const Value& other : *shape.values) others.insert(canonical_json(other));
    std::erase_if(values, [&](const Value& item) { return !others.contains(canonical_json(item)); });
  }
  shape.values = std::move(values);
  return {};
}

}  // namespace

void narrow_least(NumberLimits& limits, const NumberBound& bound) { narrow(limits.least, bound, 1); }
void narrow_most(NumberLimits& limits, const NumberBound& bound) { narrow(limits.most, bound, -1); }

Result<Decimal> decimal(const SchemaPlace& schema, std::string_view keyword, const Value& value) {
  const bool is_number = value.is(Kind::integer) || value.is(Kind::floating);
  const auto number = is_number ? Decimal::parse(canonical_number(value)) : std::nullopt;
  if (!number) return error_at(schema, keyword, "a number of at most 400 digits");
  return *number;
}

std::uint8_t type_bit(const Value& value) {
  switch (value.kind()) {
    case Kind::boolean: return boolean_type;
    case Kind::integer:
    case Kind::floating: return number_type;
    case Kind::text: return text_type;
    case Kind::sequence: return array_type;
    case Kind::dictionary: return object_type;
    default: return null_type;
  }
}

Result<std::uint32_t> whole_number(const SchemaPlace& schema, std::string_view keyword, const Value& value) {
  constexpr double largest = 1e9;
  const auto number = value.is(Kind::boolean) ? std::nullopt : value.number_value();
  if (!number || *number < 0 || *number > largest || *number != std::floor(*number)) {
    return error_at(schema, keyword, "a whole number from 0 to 1000000000");
  }
  return static_cast<std::uint32_t>(*number);
}

Result<void> add_names(const SchemaPlace& schema, std::string_view keyword, const Value& value,
                       std::vector<std::string>& names) {
  if (!value.is_list()) return error_at(schema, keyword, "a list of names");
  if (value.items().size() > most_names) return error_at(schema, keyword, "at most 4000 names");
  std::unordered_set<std::string> known(names.begin(), names.end());
  for (const Value& name : value.items()) {
    if (!name.is_text()) return error_at(schema, keyword, "a list of names");
    if (known.insert(name.bytes()).second) names.push_back(name.bytes());
  }
  return {};
}

Result<bool> apply_to_shape(const SchemaPlace& schema, std::string_view keyword, const Value& value, Shape& shape) {
  if (keyword == "type") {
    TRY(apply_type(schema, value, shape));
    return true;
  }
  if (keyword == "enum" || keyword == "const") {
    TRY(apply_values(schema, keyword, value, shape));
    return true;
  }
  if (TRY(apply_to_number(schema, keyword, value, shape))) return true;
  if (TRY(apply_to_text(schema, keyword, value, shape))) return true;
  return apply_to_containers(schema, keyword, value, shape);
}

}  // namespace ingot::grammar
