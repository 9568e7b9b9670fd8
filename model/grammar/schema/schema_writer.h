// From shapes to rules: one for each conjunction of schemas that is met.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "model/grammar/json_schema.h"
#include "model/grammar/schema/shape_reader.h"

namespace ingot::grammar {

class SchemaWriter {
 public:
  SchemaWriter(const SchemaDocument& document, Expressions& expressions, const JsonSchemaOptions& options);

  // A value that satisfies all of them, with all the rules that it needs.
  Result<ExpressionId> write(const Conjunction& schemas);

 private:
  // Calls of rules that are written later: schemas nest, and the stack does not.
  ExpressionId value_of(const Conjunction& schemas);
  Result<ExpressionId> write_values(const Conjunction& schemas);
  Result<ExpressionId> write_shape(const Shape& shape);
  Result<ExpressionId> write_number(const NumberLimits& limits);
  Result<ExpressionId> write_text(const TextLimits& limits);
  Result<ExpressionId> write_listed(const Shape& shape);
  ExpressionId literal(const chat::Value& value);

  Result<bool> satisfies(const chat::Value& value, const Conjunction& schemas);
  Result<bool> satisfies(const chat::Value& value, const Shape& shape);
  Result<bool> satisfies_number(const chat::Value& value, const NumberLimits& limits);
  Result<bool> satisfies_text(const std::string& text, const TextLimits& limits);
  Result<bool> satisfies_array(const chat::Value& value, const Shape& shape);
  Result<bool> satisfies_object(const chat::Value& value, const Shape& shape);

  ExpressionId quoted(ExpressionId content) { return expressions_.sequence({quote_, content, quote_}); }

  Result<ExpressionId> write_array(const Shape& shape);
  Result<ExpressionId> write_containing(const Shape& shape);
  Conjunction item_schemas(const Shape& shape, std::size_t index) const;

  // One that may be there, in the order in which they come.
  struct Property {
    ExpressionId entry;
    bool is_required;
  };
  struct ObjectPlan {
    std::vector<Property> properties = {};
    ExpressionId others;  // an entry whose name is none of theirs, or never
    std::uint32_t least, most;
    std::uint32_t counted;                                               // further ones need no count
    std::map<std::pair<std::size_t, std::uint32_t>, RuleId> rules = {};  // by place and count
    std::vector<std::pair<std::size_t, std::uint32_t>> open = {};
  };
  Result<ExpressionId> write_object(const Shape& shape);
  Result<void> plan_properties(const Shape& shape, ObjectPlan& plan);
  bool is_closed(const Shape& shape) const;
  Result<void> plan_others(const Shape& shape, const std::vector<std::string>& names, ObjectPlan& plan);
  Result<ExpressionId> write_plan(ObjectPlan plan);
  ExpressionId call_from(ObjectPlan& plan, std::size_t place, std::uint32_t count);
  ExpressionId write_rest(ObjectPlan& plan, std::size_t place, std::uint32_t count);
  ExpressionId write_others(const ObjectPlan& plan, std::uint32_t count);
  Result<FiniteAutomaton> name_language(const Shape& shape);
  Result<Conjunction> property_schemas(const Shape& shape, const std::string& name);
  Result<const FiniteAutomaton*> pattern_language(const ObjectClause::Property& pattern);
  Result<const FiniteAutomaton*> pattern_language(const TextLimits::Pattern& pattern);

  Expressions& expressions_;
  const bool closes_objects_;
  ShapeReader reader_;
  ExpressionId quote_, space_, comma_;
  std::map<std::vector<std::pair<const chat::Value*, bool>>, RuleId> rules_;  // by schema, and whether it is negated
  std::vector<std::pair<RuleId, Conjunction>> open_;
  std::map<std::pair<std::string, bool>, FiniteAutomaton> pattern_languages_;  // by text, and whether it is a format
  std::optional<RuleId> text_rule_, number_rule_;
};

}  // namespace ingot::grammar
