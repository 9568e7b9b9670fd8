#include "model/grammar/nullability.h"

#include <algorithm>

namespace ingot::grammar {

Result<Nullability> Nullability::of(Expressions& expressions) {
  Nullability result(expressions);
  result.rules_.assign(expressions.rule_count(), false);
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    // Those who write rules write the called after the caller, mostly.
    for (RuleId rule = static_cast<RuleId>(expressions.rule_count()); rule-- > 0;) {
      TRY(expressions.budget().look());
      if (result.rules_[rule] || !result.is_nullable(expressions.body_of(rule))) continue;
      result.rules_[rule] = has_changed = true;
    }
  }
  return result;
}

bool Nullability::is_nullable(ExpressionId id) const {
  const Expression& expression = (*expressions_)[id];
  const auto children = [&] { return expressions_->children_of(expression); };
  const auto is_child_nullable = [&](ExpressionId child) { return is_nullable(child); };
  switch (expression.kind) {
    case ExpressionKind::empty: return true;
    case ExpressionKind::never:
    case ExpressionKind::bytes:
    case ExpressionKind::text: return false;
    case ExpressionKind::sequence: return std::ranges::all_of(children(), is_child_nullable);
    case ExpressionKind::alternatives: return std::ranges::any_of(children(), is_child_nullable);
    case ExpressionKind::repeat: return expression.least == 0 || is_nullable(expression.place);
    case ExpressionKind::rule: return rules_[expression.place];
    case ExpressionKind::automaton: return expressions_->automaton_of(expression).accepts("");
  }
  return false;
}

Result<ExpressionId> Nullability::without_empty(ExpressionId id) {
  const ExpressionId result = TRY(strip(id));
  // Rules that call each other may be a chain as long as the grammar: each is stripped here, not where it is called.
  while (!called_.empty()) {
    const auto [rule, twin] = called_.back();
    called_.pop_back();
    expressions_->define(twin, TRY(strip(expressions_->body_of(rule))));
  }
  return result;
}

Result<ExpressionId> Nullability::strip(ExpressionId id) {
  if (!is_nullable(id)) return id;
  TRY(expressions_->check());
  const Expression expression = (*expressions_)[id];
  switch (expression.kind) {
    case ExpressionKind::sequence: return strip_sequence(expression);
    case ExpressionKind::alternatives: {
      std::vector<ExpressionId> children;
      for (std::uint32_t index = 0; index < expression.size; ++index) {
        children.push_back(TRY(strip(expressions_->children_of(expression)[index])));
      }
      return expressions_->alternatives(children);
    }
    case ExpressionKind::repeat: {
      const ExpressionId child = TRY(strip(expression.place));
      const std::uint32_t least = child == expression.place ? std::max(expression.least, 1u) : 1u;
      return expressions_->repeat(child, least, expression.most);
    }
    case ExpressionKind::rule: return strip_rule(expression.place);
    case ExpressionKind::automaton: {
      Budget& budget = expressions_->budget();
      const FiniteAutomaton nothing = TRY(accept_texts({""}, budget));
      return expressions_->automaton(TRY(subtract(expressions_->automaton_of(expression), nothing, budget)));
    }
    default: return expressions_->never();
  }
}

// One alternative for each part that may be the first to read something: those in front of it read nothing.
Result<ExpressionId> Nullability::strip_sequence(const Expression& expression) {
  const auto original = expressions_->children_of(expression);
  const std::vector<ExpressionId> parts(original.begin(), original.end());
  std::vector<ExpressionId> alternatives;
  for (std::size_t first = 0; first < parts.size(); ++first) {
    std::vector<ExpressionId> rest(parts.begin() + static_cast<std::ptrdiff_t>(first), parts.end());
    rest[0] = TRY(strip(parts[first]));
    alternatives.push_back(expressions_->sequence(rest));
    if (!is_nullable(parts[first])) break;
  }
  return expressions_->alternatives(alternatives);
}

ExpressionId Nullability::strip_rule(RuleId rule) {
  if (const auto made = made_.find(rule); made != made_.end()) return expressions_->call(made->second);
  const RuleId twin = expressions_->add_rule(expressions_->name_of(rule));
  rules_.push_back(false);
  made_.emplace(rule, twin);
  called_.emplace_back(rule, twin);
  return expressions_->call(twin);
}

}  // namespace ingot::grammar
