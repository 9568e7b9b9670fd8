// What does not satisfy a schema, as shapes of what does something else. One of its keywords must fail, so there are as
// many alternatives; each is exact, or refused: what were narrower here would be wider outside of the negation.
#include <algorithm>
#include <array>
#include <iterator>
#include <unordered_set>

#include "model/chat/dictionary.h"
#include "model/grammar/schema/shape_keywords.h"
#include "model/grammar/schema/shape_reader.h"
#include "model/grammar/schema/subschemas.h"

namespace ingot::grammar {

namespace {

using chat::Kind;
using chat::Value;
using Shapes = std::vector<Shape>;

constexpr std::string_view not_negated = "a keyword whose opposite is enforced; that of this one is not";

void keep_type(Shapes& shapes, std::uint8_t type) {
  for (Shape& shape : shapes) shape.types &= type;
  std::erase_if(shapes, [](const Shape& shape) { return shape.types == 0; });
}

// Numbers but these: what lies below the least, between two, and above the greatest.
Result<void> exclude_numbers(const SchemaPlace& schema, const std::vector<Value>& numbers, const Shape& shape,
                             Shapes& result) {
  std::vector<Decimal> sorted;
  for (const Value& number : numbers) sorted.push_back(TRY(decimal(schema, "enum", number)));
  std::ranges::sort(sorted, [](const Decimal& left, const Decimal& right) { return compare(left, right) < 0; });
  for (std::size_t index = 0; index <= sorted.size(); ++index) {
    Shape part = shape;
    part.types = number_type;
    if (index > 0) narrow_least(part.number, {sorted[index - 1], true});
    if (index < sorted.size()) narrow_most(part.number, {sorted[index], true});
    result.push_back(std::move(part));
  }
  return {};
}

Result<void> exclude_values(const SchemaPlace& schema, const std::vector<Value>& values, Shapes& shapes) {
  std::vector<Value> numbers;
  std::vector<std::string> texts;
  std::unordered_set<std::string> spelled;
  std::uint8_t types = 0;
  for (const Value& value : values) {
    const std::uint8_t type = type_bit(value);
    types |= type;
    spelled.insert(canonical_json(value));
    if (type == number_type) numbers.push_back(value);
    if (type == text_type) texts.push_back(value.bytes());
  }
  Shapes result;
  for (Shape& shape : shapes) {
    if (shape.values) {
      std::erase_if(*shape.values, [&](const Value& value) { return spelled.contains(canonical_json(value)); });
      result.push_back(std::move(shape));
      continue;
    }
    if ((shape.types & types & (array_type | object_type)) != 0) return error_at(schema, "enum", not_negated);
    if ((shape.types & types & number_type) != 0) TRY(exclude_numbers(schema, numbers, shape, result));
    for (const bool left : {false, true}) {
      if ((shape.types & types & boolean_type) == 0 || spelled.contains(left ? "true" : "false")) continue;
      Shape part = shape;
      part.types = boolean_type;
      part.values = {Value::boolean(left)};
      result.push_back(std::move(part));
    }
    shape.types &= static_cast<std::uint8_t>(~(types & (number_type | boolean_type | null_type)));
    if ((shape.types & text_type) != 0) std::ranges::copy(texts, std::back_inserter(shape.text.excluded));
    result.push_back(std::move(shape));
  }
  shapes = std::move(result);
  return {};
}

Result<void> exclude_types(const SchemaPlace& schema, const Value& value, Shapes& shapes) {
  Shape named;
  TRY(apply_to_shape(schema, "type", value, named));
  for (Shape& shape : shapes) {
    const bool is_part = named.number.is_whole && (shape.types & number_type) != 0 && !shape.number.is_whole;
    if (is_part) return error_at(schema, "type", not_negated);
    shape.types &= static_cast<std::uint8_t>(~named.types);
  }
  return {};
}

// A bound of a count that must not hold: at most one less than the least, at least one more than the most.
Result<bool> exclude_count(const SchemaPlace& schema, std::string_view keyword, const Value& value, Shapes& shapes) {
  struct Count {
    std::string_view least, most;
    std::uint8_t type;
    std::uint32_t& (*least_of)(Shape&);
    std::uint32_t& (*most_of)(Shape&);
  };
  constexpr std::array<Count, 3> counts{
      {{"minLength", "maxLength", text_type, [](Shape& shape) -> std::uint32_t& { return shape.text.least; },
        [](Shape& shape) -> std::uint32_t& { return shape.text.most; }},
       {"minItems", "maxItems", array_type, [](Shape& shape) -> std::uint32_t& { return shape.least_items; },
        [](Shape& shape) -> std::uint32_t& { return shape.most_items; }},
       {"minProperties", "maxProperties", object_type,
        [](Shape& shape) -> std::uint32_t& { return shape.least_properties; },
        [](Shape& shape) -> std::uint32_t& { return shape.most_properties; }}}};
  const auto* count =
      std::ranges::find_if(counts, [&](const Count& one) { return one.least == keyword || one.most == keyword; });
  if (count == counts.end()) return false;
  const std::uint32_t bound = TRY(whole_number(schema, keyword, value));
  keep_type(shapes, count->type);
  for (Shape& shape : shapes) {
    if (keyword == count->most) {
      if (count->type == object_type) shape.least_properties_pointer = schema.pointer;
      count->least_of(shape) = std::max(count->least_of(shape), bound + 1);
    } else if (bound > 0) {
      count->most_of(shape) = std::min(count->most_of(shape), bound - 1);
    }
  }
  if (keyword == count->least && bound == 0) shapes.clear();
  return true;
}

Result<bool> exclude_range(const SchemaPlace& schema, std::string_view keyword, const Value& value, Shapes& shapes) {
  const bool is_least = keyword == "minimum" || keyword == "exclusiveMinimum";
  if (!is_least && keyword != "maximum" && keyword != "exclusiveMaximum") return false;
  keep_type(shapes, number_type);
  if (shapes.empty()) return true;
  const bool is_exclusive = keyword.starts_with("exclusive");
  // Draft 4 says in two words what is one bound.
  const auto* other = schema.value->as_dictionary().find(is_least ? "exclusiveMinimum" : "exclusiveMaximum");
  if (other != nullptr && other->is(Kind::boolean)) return error_at(schema, keyword, not_negated);
  const NumberBound bound{TRY(decimal(schema, keyword, value)), !is_exclusive};
  for (Shape& shape : shapes) is_least ? narrow_most(shape.number, bound) : narrow_least(shape.number, bound);
  return true;
}

}  // namespace

Result<void> ShapeReader::apply_negated(const SchemaPlace& schema, Path& path, Shapes& shapes) {
  TRY(budget_.spend(1 + shapes.size()));
  if (schema.value->is(Kind::boolean)) {
    if (schema.value->as_boolean()) shapes.clear();
    return {};
  }
  if (!schema.value->is(Kind::dictionary)) return error_at(schema, "", "an object, true or false for a schema");
  TRY(expect_in_dialect(schema));
  if (++path.depth > deepest_schema) return error_at(schema, "not", "at most 100 schemas inside of one another");
  Shapes result;
  for (const auto& entry : schema.value->as_dictionary().entries()) {
    const std::string& keyword = entry.key.bytes();
    if (is_remark(keyword, entry.value) || keyword == "$schema" || keyword == "$id") continue;
    TRY(spend_copies(shapes));
    Shapes branch = shapes;
    TRY(apply_negated_keyword(schema, keyword, entry.value, path, branch));
    std::ranges::move(branch, std::back_inserter(result));
    if (result.size() > most_shapes) return error_at(schema, keyword, "at most 256 alternatives in all");
  }
  shapes = std::move(result);
  --path.depth;
  return {};
}

Result<void> ShapeReader::apply_negated_keyword(const SchemaPlace& schema, std::string_view keyword, const Value& value,
                                                Path& path, Shapes& shapes) {
  if (keyword == "type") return exclude_types(schema, value, shapes);
  if (keyword == "const") return exclude_values(schema, {value}, shapes);
  if (keyword == "enum" && value.is_list()) return exclude_values(schema, value.items(), shapes);
  if (TRY(exclude_count(schema, keyword, value, shapes))) return {};
  if (TRY(exclude_range(schema, keyword, value, shapes))) return {};
  if (keyword == "pattern" && value.is_text()) {
    keep_type(shapes, text_type);
    for (Shape& shape : shapes) shape.text.patterns.push_back({value.bytes(), false, schema.pointer, true});
    return {};
  }
  if (keyword == "not") return apply(schema.below(keyword, value), path, shapes);
  if (keyword == "$ref") return apply_reference(schema, value, path, shapes, Sense::negated);
  if (keyword == "anyOf" || keyword == "allOf" || keyword == "oneOf") {
    return apply_negated_list(schema, keyword, value, path, shapes);
  }
  return apply_negated_children(schema, keyword, value, shapes);
}

Result<void> ShapeReader::apply_negated_list(const SchemaPlace& schema, std::string_view keyword, const Value& value,
                                             Path& path, Shapes& shapes) {
  if (!value.is_list() || value.items().empty()) return error_at(schema, keyword, "a list of schemas");
  if (keyword == "oneOf") {
    // Where no two hold at once it is one of them, and none must hold.
    std::vector<Shapes> branches;
    for (std::size_t index = 0; index < value.items().size(); ++index) {
      branches.emplace_back(1);
      TRY(apply(schema.below(keyword, std::to_string(index), value.items()[index]), path, branches.back()));
    }
    TRY(expect_disjoint(schema, branches));
  }
  Shapes result;
  for (std::size_t index = 0; index < value.items().size(); ++index) {
    const SchemaPlace below = schema.below(keyword, std::to_string(index), value.items()[index]);
    if (keyword != "allOf") {
      TRY(apply_negated(below, path, shapes));
      continue;
    }
    TRY(spend_copies(shapes));
    Shapes branch = shapes;
    TRY(apply_negated(below, path, branch));
    std::ranges::move(branch, std::back_inserter(result));
    if (result.size() > most_shapes) return error_at(schema, keyword, "at most 256 alternatives in all");
  }
  if (keyword == "allOf") shapes = std::move(result);
  return {};
}

// Some item, some property is there and does not satisfy what is asked of it.
Result<void> ShapeReader::apply_negated_children(const SchemaPlace& schema, std::string_view keyword,
                                                 const Value& value, Shapes& shapes) {
  const auto& dictionary = schema.value->as_dictionary();
  Shapes result;
  if (keyword == "required") {
    std::vector<std::string> names;
    TRY(add_names(schema, keyword, value, names));
    keep_type(shapes, object_type);
    for (const std::string& name : names) {
      TRY(spend_copies(shapes));
      for (Shape& shape : shapes) result.emplace_back(shape).absent.push_back(name);
    }
  } else if (keyword == "properties" && value.is(Kind::dictionary)) {
    keep_type(shapes, object_type);
    for (const auto& entry : value.as_dictionary().entries()) {
      TRY(spend_copies(shapes));
      const std::string& name = entry.key.bytes();
      for (Shape& shape : shapes) {
        Shape& part = result.emplace_back(shape);
        part.required.push_back(name);
        part.single.push_back({name, schema.below(keyword, name, entry.value).negated()});
      }
    }
  } else if (keyword == "items" && !value.is_list() && dictionary.find("prefixItems") == nullptr) {
    keep_type(shapes, array_type);
    for (Shape& shape : shapes) shape.contained.push_back({schema.below(keyword, value).negated(), 1});
    return {};
  } else if (keyword == "contains" && dictionary.find("minContains") == nullptr &&
             dictionary.find("maxContains") == nullptr) {
    keep_type(shapes, array_type);
    for (Shape& shape : shapes) shape.arrays.push_back({{}, schema.below(keyword, value).negated()});
    return {};
  } else if ((keyword == "additionalProperties" || keyword == "additionalItems") && value.is(Kind::boolean) &&
             value.as_boolean()) {
    // Always satisfied.
  } else {
    return error_at(schema, keyword, not_negated);
  }
  if (result.size() > most_shapes) return error_at(schema, keyword, "at most 256 alternatives in all");
  shapes = std::move(result);
  return {};
}

}  // namespace ingot::grammar
