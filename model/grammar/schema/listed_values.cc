// Values that a schema lists, held against what stands beside the list. They are compared as values, since a grammar
// knows one spelling of each. Every step goes down into the value, so a schema that holds itself ends with it.
#include <algorithm>

#include "model/chat/dictionary.h"
#include "model/grammar/code_points.h"
#include "model/grammar/schema/schema_writer.h"
#include "model/grammar/schema/shape_keywords.h"

namespace ingot::grammar {

using chat::Value;

Result<bool> SchemaWriter::satisfies(const Value& value, const Conjunction& schemas) {
  for (const Shape& shape : TRY(reader_.read(schemas))) {
    if (TRY(satisfies(value, shape))) return true;
  }
  return false;
}

Result<bool> SchemaWriter::satisfies(const Value& value, const Shape& shape) {
  TRY(expressions_.budget().spend(1));
  if ((type_bit(value) & shape.types) == 0) return false;
  if (shape.values) {
    const std::string text = canonical_json(value);
    if (std::ranges::none_of(*shape.values, [&](const Value& one) { return canonical_json(one) == text; }))
      return false;
  }
  switch (type_bit(value)) {
    case number_type: return satisfies_number(value, shape.number);
    case text_type: return satisfies_text(value.bytes(), shape.text);
    case array_type: return satisfies_array(value, shape);
    case object_type: return satisfies_object(value, shape);
    default: return true;
  }
}

Result<bool> SchemaWriter::satisfies_number(const Value& value, const NumberLimits& limits) {
  const auto number = Decimal::parse(canonical_number(value));
  if (!number) return Error::of(ErrorCode::unsupported, "schema, 'enum': expected numbers of at most 400 digits");
  if (limits.is_whole && !number->fraction.empty()) return false;
  if (limits.least) {
    const int order = compare(*number, limits.least->value);
    if (order < 0 || (order == 0 && limits.least->is_exclusive)) return false;
  }
  if (limits.most) {
    const int order = compare(*number, limits.most->value);
    if (order > 0 || (order == 0 && limits.most->is_exclusive)) return false;
  }
  if (!limits.multiple_of) return true;
  return is_multiple(*number, *limits.multiple_of);
}

Result<bool> SchemaWriter::satisfies_text(const std::string& text, const TextLimits& limits) {
  const auto characters = static_cast<std::size_t>(
      std::ranges::count_if(text, [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }));
  if (characters < limits.least || (limits.most != unbounded && characters > limits.most)) return false;
  for (const auto& pattern : limits.patterns) {
    if (TRY(pattern_language(pattern))->accepts(json_spelling(text)) == pattern.is_negated) return false;
  }
  return std::ranges::find(limits.excluded, text) == limits.excluded.end();
}

Result<bool> SchemaWriter::satisfies_array(const Value& value, const Shape& shape) {
  const auto& items = value.items();
  if (items.size() < shape.least_items || (shape.most_items != unbounded && items.size() > shape.most_items)) {
    return false;
  }
  for (std::size_t index = 0; index < items.size() && !shape.arrays.empty(); ++index) {
    if (!TRY(satisfies(items[index], item_schemas(shape, index)))) return false;
  }
  for (const Shape::Contained& contained : shape.contained) {
    std::uint32_t count = 0;
    for (const Value& item : items) count += TRY(satisfies(item, Conjunction{contained.schema})) ? 1 : 0;
    if (count < contained.least) return false;
  }
  return true;
}

Result<bool> SchemaWriter::satisfies_object(const Value& value, const Shape& shape) {
  const auto& dictionary = value.as_dictionary();
  const auto has = [&](const std::string& name) { return dictionary.find(name) != nullptr; };
  const std::size_t count = dictionary.entries().size();
  if (count < shape.least_properties || (shape.most_properties != unbounded && count > shape.most_properties) ||
      !std::ranges::all_of(shape.required, has) || std::ranges::any_of(shape.absent, has)) {
    return false;
  }
  for (const auto& entry : dictionary.entries()) {
    for (const SchemaPlace& schema : shape.names) {
      if (!TRY(satisfies(entry.key, Conjunction{schema}))) return false;
    }
    const Conjunction schemas = TRY(property_schemas(shape, entry.key.bytes()));
    if (!schemas.empty() && !TRY(satisfies(entry.value, schemas))) return false;
  }
  return true;
}

}  // namespace ingot::grammar
