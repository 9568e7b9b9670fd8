// Whether two shapes exclude each other. Only what is sure counts: a oneOf whose alternatives might hold at once is
// refused.
#include <algorithm>
#include <string>
#include <unordered_set>

#include "model/grammar/schema/shape_keywords.h"
#include "model/grammar/schema/shape_reader.h"

namespace ingot::grammar {

namespace {

using chat::Value;

constexpr int deepest_look = 3;

std::uint8_t types_of(const Shape& shape) {
  if (!shape.values) return shape.types;
  std::uint8_t types = 0;
  for (const Value& value : *shape.values) types |= type_bit(value);
  return types & shape.types;
}

bool share_a_value(const Shape& left, const Shape& right) {
  std::unordered_set<std::string> texts;
  for (const Value& value : *left.values) texts.insert(canonical_json(value));
  return std::ranges::any_of(*right.values, [&](const Value& value) { return texts.contains(canonical_json(value)); });
}

bool lies_below(const std::optional<NumberBound>& most, const std::optional<NumberBound>& least) {
  if (!most || !least) return false;
  const int order = compare(most->value, least->value);
  return order < 0 || (order == 0 && (most->is_exclusive || least->is_exclusive));
}

// What is asked of a property, as far as it is said without patterns.
Conjunction asked_of(const Shape& shape, const std::string& name) {
  Conjunction schemas;
  for (const ObjectClause& clause : shape.objects) {
    bool is_named = false;
    for (const auto& property : clause.properties) {
      if (property.name != name) continue;
      schemas.push_back(property.schema);
      is_named = true;
    }
    if (!is_named && clause.patterns.empty() && clause.others) schemas.push_back(*clause.others);
  }
  for (const auto& [single, schema] : shape.single) {
    if (single == name) schemas.push_back(schema);
  }
  return schemas;
}

}  // namespace

bool ShapeReader::are_disjoint(const Shape& left, const Shape& right) {
  const auto common = static_cast<std::uint8_t>(types_of(left) & types_of(right));
  if (common == 0) return true;
  if (left.values && right.values) return !share_a_value(left, right);
  if ((common & (null_type | boolean_type)) != 0) return false;
  if ((common & number_type) != 0 && !lies_below(left.number.most, right.number.least) &&
      !lies_below(right.number.most, left.number.least)) {
    return false;
  }
  if ((common & text_type) != 0 && left.text.most >= right.text.least && right.text.most >= left.text.least) {
    return false;
  }
  if ((common & array_type) != 0 && left.most_items >= right.least_items && right.most_items >= left.least_items) {
    return false;
  }
  if ((common & object_type) == 0) return true;
  return are_objects_disjoint(left, right);
}

bool ShapeReader::are_objects_disjoint(const Shape& left, const Shape& right) {
  if (left.most_properties < right.least_properties || right.most_properties < left.least_properties) return true;
  if (looks_ >= deepest_look) return false;
  ++looks_;
  // An object of both has what either must have. If no value of such a property satisfies both, there is none.
  bool is_apart = false;
  for (const std::string& name : left.required) is_apart = is_apart || excludes(left, right, name);
  for (const std::string& name : right.required) is_apart = is_apart || excludes(right, left, name);
  --looks_;
  return is_apart;
}

bool ShapeReader::excludes(const Shape& asking, const Shape& other, const std::string& name) {
  if (std::ranges::find(other.absent, name) != other.absent.end()) return true;
  // What cannot be read is refused when it is its turn; here it only tells nothing apart.
  const auto mine = read(asked_of(asking, name));
  const auto others = read(asked_of(other, name));
  if (!mine.ok() || !others.ok()) return false;
  return std::ranges::all_of(mine.value(), [&](const Shape& mine_shape) {
    return std::ranges::all_of(others.value(),
                               [&](const Shape& other_shape) { return are_disjoint(mine_shape, other_shape); });
  });
}

}  // namespace ingot::grammar
