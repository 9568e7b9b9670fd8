// Which expressions the empty text satisfies, and the same expressions without it: a round of a counted repetition that
// read nothing would count and get nowhere.
#pragma once

#include <unordered_map>
#include <utility>
#include <vector>

#include "model/grammar/expression.h"

namespace ingot::grammar {

class Nullability {
 public:
  static Result<Nullability> of(Expressions& expressions);

  bool is_nullable(ExpressionId id) const;
  bool is_nullable_rule(RuleId rule) const { return rules_[rule]; }
  // What satisfies the expression, but for the empty text. Adds expressions and rules.
  Result<ExpressionId> without_empty(ExpressionId id);

 private:
  explicit Nullability(Expressions& expressions) : expressions_(&expressions) {}
  // The same, but that rules which are called are left to be stripped later.
  Result<ExpressionId> strip(ExpressionId id);
  Result<ExpressionId> strip_sequence(const Expression& expression);
  ExpressionId strip_rule(RuleId rule);

  Expressions* expressions_;
  std::vector<bool> rules_;
  std::unordered_map<RuleId, RuleId> made_;
  std::vector<std::pair<RuleId, RuleId>> called_;  // a rule, and the one like it without the empty text
};

}  // namespace ingot::grammar
