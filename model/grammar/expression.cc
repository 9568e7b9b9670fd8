#include "model/grammar/expression.h"

#include <utility>

namespace ingot::grammar {

void Expressions::spend(std::size_t bytes) {
  if (auto spent = budget_.spend(bytes); !spent.ok() && !failure_) failure_ = spent.error();
}

ExpressionId Expressions::add(const Expression& expression) {
  spend(sizeof(Expression));
  // Past the budget nothing grows any more: whoever goes on gets a grammar that is thrown away.
  if (failure_ && !expressions_.empty()) return 0;
  expressions_.push_back(expression);
  return static_cast<ExpressionId>(expressions_.size() - 1);
}

ExpressionId Expressions::bytes(const ByteSet& set) {
  if (set.is_empty()) return never();
  spend(sizeof(ByteSet));
  if (failure_) return never();
  sets_.push_back(set);
  return add({.kind = ExpressionKind::bytes, .place = static_cast<std::uint32_t>(sets_.size() - 1)});
}

ExpressionId Expressions::text(std::string_view text) {
  if (text.empty()) return empty();
  spend(text.size());
  if (failure_) return never();
  texts_ += text;
  return add({.kind = ExpressionKind::text,
              .place = static_cast<std::uint32_t>(texts_.size() - text.size()),
              .size = static_cast<std::uint32_t>(text.size())});
}

ExpressionId Expressions::add_children(ExpressionKind kind, std::span<const ExpressionId> children) {
  spend(children.size_bytes());
  if (failure_) return never();
  const auto place = static_cast<std::uint32_t>(children_.size());
  children_.insert(children_.end(), children.begin(), children.end());
  return add({.kind = kind, .place = place, .size = static_cast<std::uint32_t>(children.size())});
}

ExpressionId Expressions::sequence(std::span<const ExpressionId> children) {
  std::vector<ExpressionId> kept;
  for (const ExpressionId child : children) {
    if (expressions_[child].kind == ExpressionKind::never) return child;
    if (expressions_[child].kind != ExpressionKind::empty) kept.push_back(child);
  }
  if (kept.empty()) return empty();
  return kept.size() == 1 ? kept[0] : add_children(ExpressionKind::sequence, kept);
}

ExpressionId Expressions::alternatives(std::span<const ExpressionId> children) {
  std::vector<ExpressionId> kept;
  for (const ExpressionId child : children) {
    if (expressions_[child].kind != ExpressionKind::never) kept.push_back(child);
  }
  if (kept.empty()) return never();
  return kept.size() == 1 ? kept[0] : add_children(ExpressionKind::alternatives, kept);
}

ExpressionId Expressions::repeat(ExpressionId child, std::uint32_t least, std::uint32_t most) {
  if (most == 0 || expressions_[child].kind == ExpressionKind::empty) return empty();
  if (expressions_[child].kind == ExpressionKind::never) return least == 0 ? empty() : child;
  if (least == 1 && most == 1) return child;
  return add({.kind = ExpressionKind::repeat, .place = child, .least = least, .most = most});
}

ExpressionId Expressions::automaton(FiniteAutomaton automaton) {
  if (automaton.state_count() == 0) return never();
  spend(automaton.size_in_bytes());
  if (failure_) return never();
  automata_.push_back(std::move(automaton));
  return add({.kind = ExpressionKind::automaton, .place = static_cast<std::uint32_t>(automata_.size() - 1)});
}

RuleId Expressions::add_rule(std::string name) {
  spend(sizeof(Rule) + name.size());
  rules_.push_back({std::move(name), never()});
  return static_cast<RuleId>(rules_.size() - 1);
}

}  // namespace ingot::grammar
