#include "model/grammar/schema/text_language.h"

#include "model/grammar/code_points.h"
#include "model/grammar/determinize.h"
#include "model/grammar/regular_expression.h"
#include "model/grammar/schema/formats.h"

namespace ingot::grammar {

namespace {

Result<ExpressionId> pattern_expression(Expressions& expressions, const TextLimits::Pattern& pattern) {
  const SchemaPlace place{nullptr, pattern.pointer};
  if (pattern.is_format) {
    const std::string text = pattern_of_format(pattern.text);
    if (text.empty()) {
      return error_at(place, "format",
                      "one of date-time, date, time, duration, email, uuid, ipv4, ipv6, hostname, uri, uri-reference, "
                      "byte, json-pointer, relative-json-pointer");
    }
    return read_regular_expression(expressions, text, Matching::whole, Spelling::json);
  }
  auto expression = read_regular_expression(expressions, pattern.text, Matching::anywhere, Spelling::json);
  if (!expression.ok()) return expression.error().within("schema, 'pattern' at '", pattern.pointer.text(), "'");
  return expression;
}

ExpressionId counted(Expressions& expressions, const TextLimits& limits) {
  return expressions.repeat(one_character(expressions, CodePointSet::all(), Spelling::json), limits.least, limits.most);
}

Result<FiniteAutomaton> automaton_of(Expressions& expressions, ExpressionId id) {
  auto grammar = compile(expressions, id);
  if (!grammar.ok() && grammar.error().code() == ErrorCode::invalid_argument) return FiniteAutomaton();
  return determinize(TRY(std::move(grammar)), expressions.budget());
}

}  // namespace

Result<ExpressionId> text_expression(Expressions& expressions, const TextLimits& limits) {
  const bool has_length = limits.least > 0 || limits.most != unbounded;
  if (limits.excluded.empty()) {
    if (limits.patterns.empty()) return expressions.repeat(any_json_character(expressions), limits.least, limits.most);
    const bool is_pattern = limits.patterns.size() == 1 && !limits.patterns[0].is_negated;
    if (is_pattern && !has_length) return pattern_expression(expressions, limits.patterns[0]);
  }
  return expressions.automaton(TRY(text_automaton(limits, expressions.budget())));
}

Result<FiniteAutomaton> text_automaton(const TextLimits& limits, Budget& budget) {
  Expressions expressions(budget);
  FiniteAutomaton result = TRY(automaton_of(expressions, counted(expressions, limits)));
  for (const TextLimits::Pattern& pattern : limits.patterns) {
    const ExpressionId expression = TRY(pattern_expression(expressions, pattern));
    const FiniteAutomaton other = TRY(automaton_of(expressions, expression));
    result = TRY(pattern.is_negated ? subtract(result, other, budget) : intersect(result, other, budget));
  }
  if (limits.excluded.empty()) return result;
  std::vector<std::string> spelled;
  for (const std::string& text : limits.excluded) spelled.push_back(json_spelling(text));
  const FiniteAutomaton excluded = TRY(accept_texts({spelled.begin(), spelled.end()}, budget));
  return subtract(result, excluded, budget);
}

}  // namespace ingot::grammar
