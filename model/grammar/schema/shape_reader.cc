#include "model/grammar/schema/shape_reader.h"

#include <algorithm>
#include <array>
#include <unordered_set>

#include "model/chat/dictionary.h"
#include "model/grammar/schema/shape_keywords.h"
#include "model/grammar/schema/subschemas.h"

namespace ingot::grammar {

namespace {

using chat::Kind;
using chat::Value;

// Read together with others, after all that stand alone.
constexpr std::array<std::string_view, 9> groups{"items",       "prefixItems",          "additionalItems",
                                                 "contains",    "properties",           "patternProperties",
                                                 "maxContains", "additionalProperties", "minContains"};
// Read last: what stands beside them may be what tells their alternatives apart.
constexpr std::array<std::string_view, 11> applicators{"$ref",
                                                       "allOf",
                                                       "anyOf",
                                                       "oneOf",
                                                       "not",
                                                       "if",
                                                       "then",
                                                       "else",
                                                       "dependencies",
                                                       "dependentRequired",
                                                       "dependentSchemas"};

constexpr std::array<std::pair<std::string_view, Dialect>, 14> younger_keywords{
    {{"const", Dialect::draft_6},
     {"contains", Dialect::draft_6},
     {"propertyNames", Dialect::draft_6},
     {"if", Dialect::draft_7},
     {"then", Dialect::draft_7},
     {"else", Dialect::draft_7},
     {"prefixItems", Dialect::draft_2020_12},
     {"minContains", Dialect::draft_2019_09},
     {"maxContains", Dialect::draft_2019_09},
     {"dependentRequired", Dialect::draft_2019_09},
     {"dependentSchemas", Dialect::draft_2019_09},
     {"unevaluatedItems", Dialect::draft_2019_09},
     {"unevaluatedProperties", Dialect::draft_2019_09},
     {"$anchor", Dialect::draft_2019_09}}};

// What it takes to hold them against others.
std::size_t size_of_look(const std::vector<Shape>& shapes) {
  std::size_t size = 1;
  for (const Shape& shape : shapes) size += 1 + (shape.values ? shape.values->size() : 0);
  return size;
}

}  // namespace

Result<std::vector<Shape>> ShapeReader::read(const Conjunction& schemas) {
  Shapes shapes(1);
  for (const SchemaPlace& schema : schemas) {
    Path path;
    TRY(schema.is_negated ? apply_negated(schema, path, shapes) : apply(schema, path, shapes));
  }
  return shapes;
}

Result<void> ShapeReader::apply(const SchemaPlace& schema, Path& path, Shapes& shapes) {
  TRY(budget_.spend(shapes.size()));
  if (schema.value->is(Kind::boolean)) {
    if (!schema.value->as_boolean()) shapes.clear();
    return {};
  }
  if (!schema.value->is(Kind::dictionary)) return error_at(schema, "", "an object, true or false for a schema");
  TRY(expect_in_dialect(schema));
  ++path.depth;
  const auto& entries = schema.value->as_dictionary().entries();
  for (const auto& entry : entries) {
    const std::string& keyword = entry.key.bytes();
    if (is_among(groups, keyword) || is_among(applicators, keyword)) continue;
    TRY(apply_keyword(schema, keyword, entry.value, shapes));
  }
  TRY(apply_items(schema, shapes));
  TRY(apply_properties(schema, shapes));
  for (const auto& entry : entries) {
    if (!is_among(applicators, entry.key.bytes())) continue;
    TRY(apply_applicator(schema, entry.key.bytes(), entry.value, path, shapes));
    if (shapes.size() > most_shapes) return error_at(schema, entry.key.bytes(), "at most 256 alternatives in all");
  }
  --path.depth;
  return {};
}

// A keyword that is younger than the dialect asks nothing in it, and whoever wrote it meant something.
Result<void> ShapeReader::expect_in_dialect(const SchemaPlace& schema) const {
  const Dialect dialect = document_.dialect();
  const auto& dictionary = schema.value->as_dictionary();
  for (const auto& [keyword, since] : younger_keywords) {
    if (dialect < since && dictionary.find(keyword) != nullptr) {
      return error_at(schema, keyword, "a keyword of the dialect that '$schema' names");
    }
  }
  for (const std::string_view keyword : {"exclusiveMinimum", "exclusiveMaximum"}) {
    const Value* value = dictionary.find(keyword);
    if (value == nullptr || value->is(Kind::boolean) == (dialect == Dialect::draft_4)) continue;
    return error_at(schema, keyword, dialect == Dialect::draft_4 ? "true or false in draft 4" : "a number");
  }
  if (dialect >= Dialect::draft_2019_09 || dictionary.find("$ref") == nullptr) return {};
  for (const auto& entry : dictionary.entries()) {
    const std::string& keyword = entry.key.bytes();
    if (is_remark(keyword, entry.value) || keyword == "$ref" || keyword == "$schema" || keyword == "$id") continue;
    return error_at(schema, "$ref", "nothing else that is enforced beside it in this dialect, which would ignore that");
  }
  return {};
}

Result<void> ShapeReader::spend_copies(const Shapes& shapes) {
  std::size_t bytes = 0;
  for (const Shape& shape : shapes) bytes += size_in_bytes(shape);
  return budget_.spend(bytes);
}

Result<void> ShapeReader::apply_keyword(const SchemaPlace& schema, std::string_view keyword, const Value& value,
                                        Shapes& shapes) {
  const bool is_root = schema.pointer.is_whole();
  if (keyword == "$schema") {
    if (value.is_text() && dialect_of(value.bytes()) == document_.dialect()) return {};
    return error_at(schema, keyword, "2020-12, 2019-09 or draft 7, 6 or 4, one for the whole schema");
  }
  if (keyword == "$id" || (keyword == "id" && document_.dialect() == Dialect::draft_4)) {
    // References inside are relative to it; at the root there is nothing else that they could be relative to.
    if (is_root || !TRY(holds_reference(schema))) return {};
    return error_at(schema, keyword, "no such name but at the root, where references stand below it");
  }
  if (is_remark(keyword, value)) return {};
  for (Shape& shape : shapes) {
    if (!TRY(apply_to_shape(schema, keyword, value, shape))) {
      return error_at(schema, keyword, "a keyword that is enforced; this one is not");
    }
  }
  // Where nothing is left to be narrowed, names are checked all the same.
  Shape unused;
  if (shapes.empty() && !TRY(apply_to_shape(schema, keyword, value, unused))) {
    return error_at(schema, keyword, "a keyword that is enforced; this one is not");
  }
  return {};
}

Result<bool> ShapeReader::holds_reference(const SchemaPlace& schema) {
  std::vector<SchemaPlace> open{schema};
  while (!open.empty()) {
    const SchemaPlace place = std::move(open.back());
    open.pop_back();
    // Schemas with names may stand inside of one another, and each is looked through.
    TRY(budget_.spend(1));
    if (place.value->is(Kind::dictionary) && place.value->as_dictionary().find("$ref") != nullptr) return true;
    visit_subschemas(place, Definitions::visited,
                     [&](std::string_view, const SchemaPlace& below) { open.push_back(below); });
  }
  return false;
}

Result<void> ShapeReader::expect_known_words(const SchemaPlace& schema) {
  std::vector<SchemaPlace> open{schema};
  std::unordered_set<const Value*> known{schema.value};
  while (!open.empty()) {
    const SchemaPlace place = std::move(open.back());
    open.pop_back();
    if (!place.value->is(Kind::dictionary)) continue;
    TRY(budget_.spend(1));
    for (const auto& entry : place.value->as_dictionary().entries()) {
      const std::string& keyword = entry.key.bytes();
      Shapes none;
      const bool is_read_with_others = is_among(groups, keyword) || is_among(applicators, keyword);
      if (!is_read_with_others) TRY(apply_keyword(place, keyword, entry.value, none));
      if (keyword != "$ref" || !entry.value.is_text()) continue;
      SchemaPlace target = TRY(document_.resolve(entry.value.bytes(), place));
      if (known.insert(target.value).second) open.push_back(std::move(target));
    }
    // A few bytes of a schema are another one: they are counted before they are kept.
    Result<void> spent;
    visit_subschemas(place, Definitions::left_out, [&](std::string_view, const SchemaPlace& below) {
      if (!spent.ok() || !known.insert(below.value).second) return;
      spent = budget_.spend(sizeof(SchemaPlace));
      open.push_back(below);
    });
    TRY(spent);
  }
  return {};
}

Result<void> ShapeReader::apply_applicator(const SchemaPlace& schema, std::string_view keyword, const Value& value,
                                           Path& path, Shapes& shapes) {
  if (keyword == "$ref") return apply_reference(schema, value, path, shapes, Sense::plain);
  if (keyword == "not") return apply_negated(schema.below(keyword, value), path, shapes);
  if (keyword == "if") return apply_condition(schema, path, shapes);
  if (keyword == "then" || keyword == "else") return {};
  if (keyword.starts_with("depend")) return apply_dependencies(schema, keyword, value, path, shapes);
  if (!value.is_list() || value.items().empty()) return error_at(schema, keyword, "a list of schemas");
  if (keyword != "allOf") return apply_alternatives(schema, keyword, value, path, shapes);
  for (std::size_t index = 0; index < value.items().size(); ++index) {
    TRY(apply(schema.below(keyword, std::to_string(index), value.items()[index]), path, shapes));
  }
  return {};
}

Result<void> ShapeReader::apply_reference(const SchemaPlace& schema, const Value& value, Path& path, Shapes& shapes,
                                          Sense sense) {
  if (!value.is_text()) return error_at(schema, "$ref", "a text");
  const SchemaPlace target = TRY(document_.resolve(value.bytes(), schema));
  if (std::ranges::find(path.references, target.value) != path.references.end()) {
    return error_at(schema, "$ref", "no schema that refers to itself for the same value");
  }
  // Each takes stack, whoever wrote the schema.
  if (path.depth > deepest_schema) return error_at(schema, "$ref", "at most 100 schemas inside of one another");
  path.references.push_back(target.value);
  TRY(sense == Sense::plain ? apply(target, path, shapes) : apply_negated(target, path, shapes));
  path.references.pop_back();
  return {};
}

Result<void> ShapeReader::apply_alternatives(const SchemaPlace& schema, std::string_view keyword, const Value& value,
                                             Path& path, Shapes& shapes) {
  std::vector<Shapes> branches;
  std::size_t count = 0;
  for (std::size_t index = 0; index < value.items().size(); ++index) {
    TRY(spend_copies(shapes));
    branches.push_back(shapes);
    TRY(apply(schema.below(keyword, std::to_string(index), value.items()[index]), path, branches.back()));
    count += branches.back().size();
    if (count > most_shapes) return error_at(schema, keyword, "at most 256 alternatives in all");
  }
  if (keyword == "oneOf") TRY(exclude_others(schema, value, path, branches));
  shapes.clear();
  for (Shapes& branch : branches) std::ranges::move(branch, std::back_inserter(shapes));
  return {};
}

bool ShapeReader::are_disjoint(const Shapes& left, const Shapes& right) {
  return std::ranges::all_of(left, [&](const Shape& one) {
    return std::ranges::all_of(right, [&](const Shape& other) { return are_disjoint(one, other); });
  });
}

Result<void> ShapeReader::expect_disjoint(const SchemaPlace& schema, const std::vector<Shapes>& branches) {
  for (std::size_t first = 0; first < branches.size(); ++first) {
    for (std::size_t second = first + 1; second < branches.size(); ++second) {
      TRY(budget_.spend(size_of_look(branches[first]) + size_of_look(branches[second])));
      if (are_disjoint(branches[first], branches[second])) continue;
      return error_at(schema, "oneOf", "alternatives of which no two can hold at once, as far as can be told");
    }
  }
  return {};
}

// Each branch without what satisfies another one too. Where nothing does that is sure to be nothing.
Result<void> ShapeReader::exclude_others(const SchemaPlace& schema, const Value& value, Path& path,
                                         std::vector<Shapes>& branches) {
  std::vector<std::pair<std::size_t, std::size_t>> overlapping;
  for (std::size_t first = 0; first < branches.size(); ++first) {
    for (std::size_t second = 0; second < branches.size(); ++second) {
      if (first == second) continue;
      TRY(budget_.spend(size_of_look(branches[first]) + size_of_look(branches[second])));
      if (!are_disjoint(branches[first], branches[second])) overlapping.emplace_back(first, second);
    }
  }
  for (const auto& [branch, other] : overlapping) {
    const SchemaPlace place = schema.below("oneOf", std::to_string(other), value.items()[other]);
    const auto excluded = apply_negated(place, path, branches[branch]);
    if (excluded.ok()) continue;
    return excluded.error().within("schema, 'oneOf' at '", schema.pointer.text(), "', of which two might hold at once");
  }
  return {};
}

// Without the property, or with it and what depends on it.
Result<void> ShapeReader::apply_dependencies(const SchemaPlace& schema, std::string_view keyword, const Value& value,
                                             Path& path, Shapes& shapes) {
  if (!value.is(Kind::dictionary)) return error_at(schema, keyword, "an object");
  for (const auto& entry : value.as_dictionary().entries()) {
    const std::string& name = entry.key.bytes();
    TRY(spend_copies(shapes));
    Shapes with = shapes;
    for (Shape& shape : shapes) shape.absent.push_back(name);
    for (Shape& shape : with) {
      shape.types &= object_type;
      shape.required.push_back(name);
    }
    if (entry.value.is_list()) {
      for (Shape& shape : with) TRY(add_names(schema, keyword, entry.value, shape.required));
    } else {
      TRY(apply(schema.below(keyword, name, entry.value), path, with));
    }
    std::ranges::move(with, std::back_inserter(shapes));
    if (shapes.size() > most_shapes) return error_at(schema, keyword, "at most 256 alternatives in all");
  }
  return {};
}

// What satisfies the condition and the one, or does not and satisfies the other.
Result<void> ShapeReader::apply_condition(const SchemaPlace& schema, Path& path, Shapes& shapes) {
  const auto& dictionary = schema.value->as_dictionary();
  const Value* then = dictionary.find("then");
  const Value* otherwise = dictionary.find("else");
  if (then == nullptr && otherwise == nullptr) return {};
  const SchemaPlace condition = schema.below("if", *dictionary.find("if"));
  TRY(spend_copies(shapes));
  Shapes without = shapes;
  TRY(apply(condition, path, shapes));
  if (then != nullptr) TRY(apply(schema.below("then", *then), path, shapes));
  TRY(apply_negated(condition, path, without));
  if (otherwise != nullptr) TRY(apply(schema.below("else", *otherwise), path, without));
  std::ranges::move(without, std::back_inserter(shapes));
  return {};
}

Result<void> ShapeReader::apply_items(const SchemaPlace& schema, Shapes& shapes) {
  const auto& dictionary = schema.value->as_dictionary();
  const Value* items = dictionary.find("items");
  const Value* first = dictionary.find("prefixItems");
  std::string_view first_name = "prefixItems";
  const Value* others = items;
  std::string_view others_name = "items";
  // Draft 7 has both under one name.
  if (items != nullptr && items->is_list()) {
    if (first != nullptr) return error_at(schema, "items", "a schema beside 'prefixItems'");
    first = items;
    first_name = "items";
    others = dictionary.find("additionalItems");
    others_name = "additionalItems";
  }
  ArrayClause clause;
  if (first != nullptr) {
    if (!first->is_list()) return error_at(schema, first_name, "a list of schemas");
    TRY(budget_.spend(first->items().size() * sizeof(SchemaPlace)));
    for (std::size_t index = 0; index < first->items().size(); ++index) {
      clause.first.push_back(schema.below(first_name, std::to_string(index), first->items()[index]));
    }
  }
  if (others != nullptr) clause.others = schema.below(others_name, *others);
  for (Shape& shape : shapes) {
    if (first != nullptr || others != nullptr) shape.arrays.push_back(clause);
  }
  const Value* contains = dictionary.find("contains");
  if (contains == nullptr) return {};
  if (dictionary.find("maxContains") != nullptr) return error_at(schema, "maxContains", "a keyword that is enforced");
  std::uint32_t least = 1;
  if (const Value* count = dictionary.find("minContains")) least = TRY(whole_number(schema, "minContains", *count));
  for (Shape& shape : shapes) {
    if (least > 0) shape.contained.push_back({schema.below("contains", *contains), least});
  }
  return {};
}

Result<void> ShapeReader::apply_properties(const SchemaPlace& schema, Shapes& shapes) {
  const auto& dictionary = schema.value->as_dictionary();
  ObjectClause clause;
  bool is_there = false;
  const auto add = [&](std::string_view keyword, std::vector<ObjectClause::Property>& list) -> Result<void> {
    const Value* value = dictionary.find(keyword);
    if (value == nullptr) return {};
    if (!value->is(Kind::dictionary)) return error_at(schema, keyword, "an object");
    is_there = true;
    if (value->as_dictionary().size() > most_names) return error_at(schema, keyword, "at most 4000 names");
    for (const auto& entry : value->as_dictionary().entries()) {
      list.push_back({entry.key.bytes(), schema.below(keyword, entry.key.bytes(), entry.value)});
    }
    return {};
  };
  TRY(add("properties", clause.properties));
  if (const Value* properties = dictionary.find("properties")) {
    clause.declared = schema.below("properties", *properties);
  }
  TRY(add("patternProperties", clause.patterns));
  if (const Value* others = dictionary.find("additionalProperties")) {
    is_there = true;
    clause.others = schema.below("additionalProperties", *others);
  }
  for (Shape& shape : shapes) {
    TRY(budget_.spend(size_in_bytes(clause)));
    if (is_there) shape.objects.push_back(clause);
  }
  return {};
}

}  // namespace ingot::grammar
