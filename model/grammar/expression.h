// What a grammar means, before it is an automaton: rules whose bodies are sequences, alternatives and repetitions of
// bytes. Schemas, GBNF, regular expressions and choices are all written in it.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/grammar/budget.h"
#include "model/grammar/byte_set.h"
#include "model/grammar/finite_automaton.h"

namespace ingot::grammar {

using ExpressionId = std::uint32_t;
using RuleId = std::uint32_t;
constexpr std::uint32_t unbounded = std::numeric_limits<std::uint32_t>::max();

struct Expression {
  enum class Kind : std::uint8_t {
    never,         // nothing satisfies it
    empty,         // nothing at all satisfies it
    bytes,         // one byte of a set
    text,          // these bytes
    sequence,      // of children
    alternatives,  // of children
    repeat,        // of one child
    rule,          // a call of it
    automaton,     // what a finite automaton accepts
  };

  Kind kind = Kind::never;
  std::uint32_t place = 0;            // in the table of its kind: sets, texts, children, automata; or the rule
  std::uint32_t size = 0;             // of the text, or of the children
  std::uint32_t least = 0, most = 0;  // repeat
};

using ExpressionKind = Expression::Kind;

// Children are made before what holds them, so a table of expressions has no cycle but through rules.
class Expressions {
 public:
  explicit Expressions(Budget& budget) : budget_(budget) {}

  ExpressionId never() { return add({}); }
  ExpressionId empty() { return add({.kind = Expression::Kind::empty}); }
  ExpressionId bytes(const ByteSet& set);
  ExpressionId text(std::string_view text);
  ExpressionId sequence(std::span<const ExpressionId> children);
  ExpressionId sequence(std::initializer_list<ExpressionId> children) { return sequence(std::span(children)); }
  ExpressionId alternatives(std::span<const ExpressionId> children);
  ExpressionId alternatives(std::initializer_list<ExpressionId> children) { return alternatives(std::span(children)); }
  // Precondition: least <= most.
  ExpressionId repeat(ExpressionId child, std::uint32_t least, std::uint32_t most);
  ExpressionId optional(ExpressionId child) { return repeat(child, 0, 1); }
  ExpressionId automaton(FiniteAutomaton automaton);

  // A rule may be called before it is defined.
  RuleId add_rule(std::string name);
  void define(RuleId rule, ExpressionId body) { rules_[rule].body = body; }
  ExpressionId call(RuleId rule) { return add({.kind = Expression::Kind::rule, .place = rule}); }

  const Expression& operator[](ExpressionId id) const { return expressions_[id]; }
  std::size_t rule_count() const { return rules_.size(); }
  const std::string& name_of(RuleId rule) const { return rules_[rule].name; }
  ExpressionId body_of(RuleId rule) const { return rules_[rule].body; }
  const ByteSet& set_of(const Expression& expression) const { return sets_[expression.place]; }
  std::string_view text_of(const Expression& expression) const {
    return std::string_view(texts_).substr(expression.place, expression.size);
  }
  std::span<const ExpressionId> children_of(const Expression& expression) const {
    return std::span(children_).subspan(expression.place, expression.size);
  }
  const FiniteAutomaton& automaton_of(const Expression& expression) const { return automata_[expression.place]; }

  Budget& budget() { return budget_; }
  // The error of the budget, if it was exceeded: makers of expressions ask now and then instead of at every call.
  Result<void> check() const {
    if (failure_) return *failure_;
    return {};
  }

 private:
  struct Rule {
    std::string name;
    ExpressionId body;
  };

  ExpressionId add(const Expression& expression);
  ExpressionId add_children(Expression::Kind kind, std::span<const ExpressionId> children);
  void spend(std::size_t bytes);

  Budget& budget_;
  std::optional<Error> failure_;
  std::vector<Expression> expressions_;
  std::vector<Rule> rules_;
  std::vector<ByteSet> sets_;
  std::string texts_;
  std::vector<ExpressionId> children_;
  std::vector<FiniteAutomaton> automata_;
};

}  // namespace ingot::grammar
