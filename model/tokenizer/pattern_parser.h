// The text of a split pattern as a tree. The syntax is the part of Oniguruma's that tokenizers use:
//
//   a \n \x{41} .            one code point          X|Y   (?:X)  (X)  (?i:X)     alternatives, groups, ignoring case
//   [a-z] [^\s\p{L}] [A&&B]  a class, also nested    X? X* X+ X{2} X{1,3} X{2,}   as many as possible
//   \s \d \w \p{Lu} \P{Han}  and their negations     X?+ X*+ X++                  and giving nothing back (of one
//   class) ^ $ \A \z \b             assertions              (?=ab|c) (?!\S)              looking ahead a fixed number
//   of classes
//
// Anything else is an error that names it.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/tokenizer/code_point_set.h"

namespace ingot {

enum class PatternAssertion : std::uint8_t { line_begin, line_end, text_begin, text_end, word_boundary };

struct PatternNode {
  static constexpr std::uint32_t unbounded = std::numeric_limits<std::uint32_t>::max();

  enum class Kind : std::uint8_t { one_of, sequence, alternatives, repeat, look_ahead, assertion };

  Kind kind = Kind::sequence;
  CodePointSet set;                   // one_of
  std::vector<PatternNode> children;  // sequence, alternatives; repeat and look_ahead have one
  std::uint32_t least = 0, most = 0;  // repeat
  bool is_possessive = false;         // repeat
  bool is_negated = false;            // look_ahead
  PatternAssertion assertion = PatternAssertion::line_begin;
};

Result<PatternNode> parse_pattern(std::string_view text);

}  // namespace ingot
