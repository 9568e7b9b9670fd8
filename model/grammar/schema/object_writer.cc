// Objects: properties in the order of the schema, each there or not, and behind them those that it does not name.
#include <algorithm>
#include <unordered_set>

#include "model/chat/dictionary.h"
#include "model/grammar/code_points.h"
#include "model/grammar/schema/schema_writer.h"

namespace ingot::grammar {

namespace {

using chat::Kind;

constexpr std::size_t most_patterns = 4;
constexpr std::size_t most_counted_places = 20'000;

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

bool is_false(const SchemaPlace& schema) {
  return schema.value->is(Kind::boolean) && schema.value->as_boolean() == schema.is_negated;
}

}  // namespace

// Made once: every declared name is held against it.
Result<const FiniteAutomaton*> SchemaWriter::pattern_language(const TextLimits::Pattern& pattern) {
  const std::pair key(pattern.text, pattern.is_format);
  if (const auto known = pattern_languages_.find(key); known != pattern_languages_.end()) return &known->second;
  TextLimits limits;
  limits.patterns.push_back(pattern);
  limits.patterns[0].is_negated = false;
  FiniteAutomaton language = TRY(text_automaton(limits, expressions_.budget()));
  return &pattern_languages_.emplace(key, std::move(language)).first->second;
}

Result<const FiniteAutomaton*> SchemaWriter::pattern_language(const ObjectClause::Property& pattern) {
  return pattern_language(TextLimits::Pattern{pattern.name, false, pattern.schema.pointer});
}

// What is asked of the property of this name.
Result<Conjunction> SchemaWriter::property_schemas(const Shape& shape, const std::string& name) {
  Conjunction schemas;
  for (const ObjectClause& clause : shape.objects) {
    const std::size_t before = schemas.size();
    const auto* schema = clause.declared ? clause.declared->value->as_dictionary().find(name) : nullptr;
    if (schema != nullptr) schemas.push_back(clause.declared->below(name, *schema));
    for (const auto& pattern : clause.patterns) {
      if (TRY(pattern_language(pattern))->accepts(json_spelling(name))) schemas.push_back(pattern.schema);
    }
    if (schemas.size() == before && clause.others) schemas.push_back(*clause.others);
  }
  for (const auto& [single, schema] : shape.single) {
    if (single == name) schemas.push_back(schema);
  }
  return schemas;
}

// What names may be at all.
Result<FiniteAutomaton> SchemaWriter::name_language(const Shape& shape) {
  Budget& budget = expressions_.budget();
  FiniteAutomaton language = TRY(text_automaton({}, budget));
  for (const SchemaPlace& schema : shape.names) {
    std::vector<Shape> shapes = TRY(reader_.read({schema}));
    std::erase_if(shapes, [](const Shape& one) { return (one.types & text_type) == 0; });
    if (shapes.size() > 1) return error_at(schema, "propertyNames", "names without alternatives");
    if (shapes.empty()) return FiniteAutomaton();
    const FiniteAutomaton texts = TRY(text_automaton(shapes[0].text, budget));
    language = TRY(intersect(language, texts, budget));
    if (!shapes[0].values) continue;
    std::vector<std::string> listed;
    for (const chat::Value& value : *shapes[0].values) {
      if (value.is_text()) listed.push_back(json_spelling(value.bytes()));
    }
    const FiniteAutomaton values = TRY(accept_texts({listed.begin(), listed.end()}, budget));
    language = TRY(intersect(language, values, budget));
  }
  return language;
}

Result<ExpressionId> SchemaWriter::write_object(const Shape& shape) {
  if (shape.least_properties > shape.most_properties) return expressions_.never();
  ObjectPlan plan{
      .others = expressions_.never(), .least = shape.least_properties, .most = shape.most_properties, .counted = 0};
  TRY(plan_properties(shape, plan));
  const auto required = static_cast<std::uint32_t>(std::ranges::count_if(plan.properties, &Property::is_required));
  const bool is_open = expressions_[plan.others].kind != Expression::Kind::never;
  if (plan.least <= required) {
    plan.least = 0;
  } else if (is_open && plan.least > 1) {
    // An automaton cannot tell that a name comes twice, and then it would count one property for two.
    return error_at({nullptr, shape.least_properties_pointer}, "minProperties",
                    "1 at most, or as many as are required, where names are not all known");
  }
  plan.counted = plan.most != unbounded ? plan.most : std::max(plan.least, 1u);
  if ((plan.properties.size() + 1) * std::min<std::size_t>(plan.counted, plan.properties.size() + 1) >
      most_counted_places) {
    return error_at({nullptr, shape.least_properties_pointer}, "maxProperties", "fewer properties to be counted");
  }
  return write_plan(std::move(plan));
}

Result<void> SchemaWriter::plan_properties(const Shape& shape, ObjectPlan& plan) {
  std::vector<std::string> names;
  std::unordered_set<std::string_view> known;  // of texts that the shape holds
  const auto add = [&](const std::string& name) {
    if (known.insert(name).second) names.push_back(name);
    return names.size() <= most_names;
  };
  for (const ObjectClause& clause : shape.objects) {
    for (const auto& property : clause.properties) {
      if (!add(property.name)) return error_at(property.schema, "properties", "at most 4000 names");
    }
  }
  const std::unordered_set<std::string_view> required(shape.required.begin(), shape.required.end());
  for (const std::string& name : shape.required) {
    if (!add(name)) return error_at({nullptr, {}}, "properties", "at most 4000 names with those that are required");
  }
  std::optional<FiniteAutomaton> language;
  if (!shape.names.empty()) language = TRY(name_language(shape));
  for (const std::string& name : names) {
    TRY(expressions_.check());
    const Conjunction schemas = TRY(property_schemas(shape, name));
    const std::string spelled = json_spelling(name);
    const bool is_possible = !contains(shape.absent, name) && (!language || language->accepts(spelled)) &&
                             std::ranges::none_of(schemas, is_false);
    const ExpressionId entry =
        is_possible ? expressions_.sequence({expressions_.text('"' + spelled + "\":"), space_, value_of(schemas)})
                    : expressions_.never();
    const bool is_required = required.contains(name);
    if (is_possible || is_required) plan.properties.push_back({entry, is_required});
  }
  if (is_closed(shape) && plan.least <= plan.properties.size()) return {};
  names.insert(names.end(), shape.absent.begin(), shape.absent.end());
  return plan_others(shape, names, plan);
}

// Whether there are no others than those that are declared, by whichever schema that tells of the object.
bool SchemaWriter::is_closed(const Shape& shape) const {
  const auto says_of_others = [](const ObjectClause& clause) { return clause.others || !clause.patterns.empty(); };
  return closes_objects_ && std::ranges::none_of(shape.objects, says_of_others) &&
         std::ranges::any_of(shape.objects, [](const ObjectClause& clause) { return clause.declared.has_value(); });
}

// Names that are in no list are told apart by the patterns that they match: each set of patterns has its own language
// of names and its own schemas.
Result<void> SchemaWriter::plan_others(const Shape& shape, const std::vector<std::string>& names, ObjectPlan& plan) {
  Budget& budget = expressions_.budget();
  std::vector<const FiniteAutomaton*> patterns;
  for (const ObjectClause& clause : shape.objects) {
    for (const auto& pattern : clause.patterns) {
      if (patterns.size() == most_patterns) return error_at(pattern.schema, "patternProperties", "at most 4 patterns");
      patterns.push_back(TRY(pattern_language(pattern)));
    }
  }
  std::vector<std::string> spelled;
  for (const std::string& name : names) spelled.push_back(json_spelling(name));
  std::vector<ExpressionId> alternatives;
  for (std::uint32_t matched = 0; matched < 1u << patterns.size(); ++matched) {
    Conjunction schemas;
    std::size_t index = 0;
    for (const ObjectClause& clause : shape.objects) {
      const std::size_t before = schemas.size();
      for (const auto& pattern : clause.patterns) {
        if ((matched >> index++ & 1) != 0) schemas.push_back(pattern.schema);
      }
      if (schemas.size() == before && clause.others) schemas.push_back(*clause.others);
    }
    if (std::ranges::any_of(schemas, is_false)) continue;
    ExpressionId name;
    if (patterns.empty() && names.empty() && shape.names.empty()) {
      name = TRY(write_text({}));
    } else {
      FiniteAutomaton language = TRY(name_language(shape));
      const FiniteAutomaton known = TRY(accept_texts({spelled.begin(), spelled.end()}, budget));
      language = TRY(subtract(language, known, budget));
      for (std::size_t pattern = 0; pattern < patterns.size(); ++pattern) {
        language = (matched >> pattern & 1) != 0 ? TRY(intersect(language, *patterns[pattern], budget))
                                                 : TRY(subtract(language, *patterns[pattern], budget));
      }
      if (language.is_nothing()) continue;
      name = quoted(expressions_.automaton(std::move(language)));
    }
    alternatives.push_back(expressions_.sequence({name, expressions_.text(":"), space_, value_of(schemas)}));
  }
  plan.others = expressions_.alternatives(alternatives);
  return {};
}

Result<ExpressionId> SchemaWriter::write_plan(ObjectPlan plan) {
  const ExpressionId begin = call_from(plan, 0, 0);
  for (std::size_t index = 0; index < plan.open.size(); ++index) {
    TRY(expressions_.check());
    const auto [place, count] = plan.open[index];
    const ExpressionId rest = write_rest(plan, place, count);
    expressions_.define(plan.rules.at({place, count}), rest);
  }
  return expressions_.sequence({expressions_.text("{"), space_, begin, expressions_.text("}")});
}

// What may come from a property on when so many were there: a rule, because many lead to it. Each is the last that its
// caller calls, so they take no stack.
ExpressionId SchemaWriter::call_from(ObjectPlan& plan, std::size_t place, std::uint32_t count) {
  const auto key = std::pair(place, std::min(count, plan.counted));
  const auto [rule, is_new] = plan.rules.try_emplace(key, 0);
  if (is_new) {
    rule->second = expressions_.add_rule("properties");
    plan.open.push_back(key);
  }
  return expressions_.call(rule->second);
}

ExpressionId SchemaWriter::write_rest(ObjectPlan& plan, std::size_t place, std::uint32_t count) {
  if (place == plan.properties.size()) return write_others(plan, count);
  const Property& property = plan.properties[place];
  ExpressionId with = expressions_.never();
  if (count < plan.most) {
    const ExpressionId comma = count == 0 ? expressions_.empty() : comma_;
    with = expressions_.sequence({comma, property.entry, call_from(plan, place + 1, count + 1)});
  }
  if (property.is_required) return with;
  return expressions_.alternatives({with, call_from(plan, place + 1, count)});
}

ExpressionId SchemaWriter::write_others(const ObjectPlan& plan, std::uint32_t count) {
  const std::uint32_t least = plan.least - std::min(plan.least, count);
  const std::uint32_t most = plan.most == unbounded ? unbounded : plan.most - count;
  const ExpressionId next = expressions_.sequence({comma_, plan.others});
  if (count > 0) return expressions_.sequence({expressions_.repeat(next, least, most), space_});
  if (most == 0) return expressions_.empty();
  const ExpressionId more =
      expressions_.repeat(next, least - std::min(least, 1u), most == unbounded ? unbounded : most - 1);
  const ExpressionId all = expressions_.sequence({plan.others, more, space_});
  return least == 0 ? expressions_.optional(all) : all;
}

}  // namespace ingot::grammar
