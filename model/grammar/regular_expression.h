// Regular expressions as ECMAScript writes them (JSON Schema's `pattern`), without what no automaton can do: looking
// around, referring back, boundaries of words. Matching is over code points; \d and \w are ASCII's, \s is Unicode's.
// Anchors are taken at the beginning and at the end of an alternative. What is not supported is an error that names it.
#pragma once

#include <memory>
#include <string_view>

#include "model/grammar/code_points.h"
#include "model/grammar/grammar.h"

namespace ingot::grammar {

enum class Matching : std::uint8_t {
  whole,     // the pattern is the text
  anywhere,  // the pattern is somewhere in the text, unless it is anchored
};

// Texts that match, in a spelling.
Result<ExpressionId> read_regular_expression(Expressions& expressions, std::string_view pattern, Matching matching,
                                             Spelling spelling);

// The whole text is the pattern.
Result<std::shared_ptr<const Grammar>> compile_regular_expression(std::string_view pattern,
                                                                  const CompileLimits& limits = {});

}  // namespace ingot::grammar
