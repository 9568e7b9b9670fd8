#include "model/grammar/schema/schema_writer.h"

#include <algorithm>

#include "model/chat/dictionary.h"
#include "model/grammar/code_points.h"

namespace ingot::grammar {

namespace {

using chat::Kind;
using chat::Value;

ByteSet set_of(std::string_view characters) {
  ByteSet set;
  for (const char character : characters) set.add(static_cast<std::uint8_t>(character));
  return set;
}

}  // namespace

SchemaWriter::SchemaWriter(const SchemaDocument& document, Expressions& expressions, const JsonSchemaOptions& options)
    : expressions_(expressions),
      closes_objects_(options.closes_objects),
      reader_(document, expressions.budget()),
      quote_(expressions.text("\"")),
      space_(expressions.repeat(expressions.bytes(set_of(" \t\r\n")), 0, options.most_white_space)),
      comma_(expressions.sequence({expressions.text(","), space_})) {}

Result<ExpressionId> SchemaWriter::write(const Conjunction& schemas) {
  for (const SchemaPlace& schema : schemas) TRY(reader_.expect_known_words(schema));
  const ExpressionId root = value_of(schemas);
  for (std::size_t index = 0; index < open_.size(); ++index) {
    TRY(expressions_.check());
    const auto [rule, conjunction] = open_[index];
    expressions_.define(rule, TRY(write_values(conjunction)));
  }
  return root;
}

ExpressionId SchemaWriter::value_of(const Conjunction& schemas) {
  std::vector<std::pair<const Value*, bool>> key;
  for (const SchemaPlace& schema : schemas) key.emplace_back(schema.value, schema.is_negated);
  std::ranges::sort(key);
  key.erase(std::ranges::unique(key).begin(), key.end());
  const auto [place, is_new] = rules_.try_emplace(std::move(key), 0);
  if (is_new) {
    place->second = expressions_.add_rule("value");
    open_.emplace_back(place->second, schemas);
  }
  return expressions_.call(place->second);
}

Result<ExpressionId> SchemaWriter::write_values(const Conjunction& schemas) {
  std::vector<ExpressionId> alternatives;
  for (const Shape& shape : TRY(reader_.read(schemas))) alternatives.push_back(TRY(write_shape(shape)));
  return expressions_.alternatives(alternatives);
}

Result<ExpressionId> SchemaWriter::write_shape(const Shape& shape) {
  if (shape.values) return write_listed(shape);
  std::vector<ExpressionId> alternatives;
  if ((shape.types & null_type) != 0) alternatives.push_back(expressions_.text("null"));
  if ((shape.types & boolean_type) != 0) {
    alternatives.push_back(expressions_.text("true"));
    alternatives.push_back(expressions_.text("false"));
  }
  if ((shape.types & number_type) != 0) alternatives.push_back(TRY(write_number(shape.number)));
  if ((shape.types & text_type) != 0) alternatives.push_back(TRY(write_text(shape.text)));
  if ((shape.types & array_type) != 0) alternatives.push_back(TRY(write_array(shape)));
  if ((shape.types & object_type) != 0) alternatives.push_back(TRY(write_object(shape)));
  return expressions_.alternatives(alternatives);
}

Result<ExpressionId> SchemaWriter::write_number(const NumberLimits& limits) {
  if (!limits.is_plain()) return expressions_.automaton(TRY(number_language(limits, expressions_.budget())));
  const ExpressionId digit = expressions_.bytes(ByteSet::of_range('0', '9'));
  const ExpressionId digits = expressions_.repeat(digit, 1, unbounded);
  const ExpressionId first = expressions_.bytes(ByteSet::of_range('1', '9'));
  const ExpressionId whole = expressions_.sequence(
      {expressions_.optional(expressions_.text("-")),
       expressions_.alternatives(
           {expressions_.text("0"), expressions_.sequence({first, expressions_.repeat(digit, 0, unbounded)})})});
  if (limits.is_whole) return whole;
  if (!number_rule_) {
    number_rule_ = expressions_.add_rule("number");
    const ExpressionId fraction = expressions_.optional(expressions_.sequence({expressions_.text("."), digits}));
    const ExpressionId sign = expressions_.optional(expressions_.bytes(set_of("+-")));
    const ExpressionId exponent =
        expressions_.optional(expressions_.sequence({expressions_.bytes(set_of("eE")), sign, digits}));
    expressions_.define(*number_rule_, expressions_.sequence({whole, fraction, exponent}));
  }
  return expressions_.call(*number_rule_);
}

Result<ExpressionId> SchemaWriter::write_text(const TextLimits& limits) {
  if (limits.least > limits.most) return expressions_.never();
  if (!limits.is_plain()) return quoted(TRY(text_expression(expressions_, limits)));
  if (!text_rule_) {
    text_rule_ = expressions_.add_rule("string");
    expressions_.define(*text_rule_, quoted(TRY(text_expression(expressions_, limits))));
  }
  return expressions_.call(*text_rule_);
}

// Of the values that are listed those that satisfy the rest.
Result<ExpressionId> SchemaWriter::write_listed(const Shape& shape) {
  Shape rest = shape;
  rest.values.reset();
  std::vector<std::string> texts;
  std::vector<ExpressionId> alternatives;
  for (const Value& value : *shape.values) {
    if (!TRY(satisfies(value, rest))) continue;
    if (value.is_list() || value.is(Kind::dictionary)) {
      alternatives.push_back(literal(value));
    } else {
      texts.push_back(canonical_json(value));
    }
  }
  // Thousands of words are one tree, not thousands of ways.
  FiniteAutomaton scalars = TRY(accept_texts({texts.begin(), texts.end()}, expressions_.budget()));
  alternatives.push_back(expressions_.automaton(std::move(scalars)));
  return expressions_.alternatives(alternatives);
}

ExpressionId SchemaWriter::literal(const Value& value) {
  std::vector<ExpressionId> parts;
  if (value.is_list()) {
    parts = {expressions_.text("["), space_};
    for (const Value& item : value.items()) {
      if (parts.size() > 2) parts.push_back(comma_);
      parts.push_back(literal(item));
    }
    if (parts.size() > 2) parts.push_back(space_);
    parts.push_back(expressions_.text("]"));
  } else if (value.is(Kind::dictionary)) {
    parts = {expressions_.text("{"), space_};
    for (const auto& entry : value.as_dictionary().entries()) {
      if (parts.size() > 2) parts.push_back(comma_);
      parts.push_back(expressions_.text(canonical_json(entry.key) + ":"));
      parts.push_back(space_);
      parts.push_back(literal(entry.value));
    }
    if (parts.size() > 2) parts.push_back(space_);
    parts.push_back(expressions_.text("}"));
  } else {
    return expressions_.text(canonical_json(value));
  }
  return expressions_.sequence(parts);
}

}  // namespace ingot::grammar
