// What may stand between the quotes of a JSON string.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/grammar/expression.h"
#include "model/grammar/schema/schema_document.h"

namespace ingot::grammar {

struct TextLimits {
  std::uint32_t least = 0, most = unbounded;  // characters
  struct Pattern {
    std::string text;
    bool is_format = false;  // of the whole text
    SchemaPointer pointer = {};
    bool is_negated = false;
  };
  std::vector<Pattern> patterns = {};
  std::vector<std::string> excluded = {};

  bool is_plain() const { return least == 0 && most == unbounded && patterns.empty() && excluded.empty(); }
};

// As it stands in a grammar: lengths are counted, a pattern alone is not made an automaton of.
Result<ExpressionId> text_expression(Expressions& expressions, const TextLimits& limits);

// In the one spelling of Spelling::json, to be subtracted from or intersected with others.
Result<FiniteAutomaton> text_automaton(const TextLimits& limits, Budget& budget);

}  // namespace ingot::grammar
