// A compiled split pattern. Matches are what Oniguruma and Perl find: leftmost, and of all ways to match there the one
// that prefers earlier alternatives and longer repetitions.
//
// Time is linear in the text for every pattern. Ordinary backtracking runs first, because patterns of tokenizers hardly
// ever give anything back; once it has taken more steps than the text's length justifies, a table remembers each
// (choice, position) that failed. Failure does not depend on where the match began, so over all matches of one text no
// choice is tried twice at a position.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/tokenizer/pattern_parser.h"
#include "model/tokenizer/text_range.h"

namespace ingot {

class Pattern {
 public:
  static Result<Pattern> compile(std::string_view text);

  // Where to go on when an attempt fails: the instruction at each position from `position` down to `least`.
  struct Resumption {
    std::uint32_t instruction;
    std::size_t position, least;
  };
  // Memory that calls reuse; one a thread.
  using Scratch = std::vector<Resumption>;

  // Appends every match in order; matches of nothing are left out. The text is all there is: assertions do not look
  // beyond it.
  void find_all(std::span<const CodePoint> text, std::vector<TextRange>& matches, Scratch& scratch) const;

 private:
  friend class PatternCompiler;
  friend class PatternMatcher;

  enum class Opcode : std::uint8_t { one_of, stretch, split, jump, look_ahead, assertion, accept };
  struct Instruction {
    Opcode opcode;
    bool is_possessive = false;  // stretch
    bool is_negated = false;     // look_ahead
    PatternAssertion assertion{};
    std::uint32_t index = 0;   // of the set (one_of, stretch), of the look-ahead, or the first target (split, jump)
    std::uint32_t second = 0;  // the target of a split that is tried later
    std::uint32_t least = 0, most = 0;  // stretch
    std::uint32_t choice = 0;           // row in the table of failures (split, unbounded stretch)
  };
  using SetSequence = std::vector<std::uint32_t>;
  // Which ASCII characters may begin a match of each branch of a split: most branches are ruled out by one look.
  struct Beginnings {
    CodePointSet::Ascii first{}, second{};
  };

  std::vector<Instruction> program_;
  std::vector<CodePointSet> sets_;
  std::vector<std::vector<SetSequence>> look_aheads_;  // alternatives of sequences of sets
  std::vector<Beginnings> beginnings_;                 // by choice; meaningless for a stretch
  std::uint32_t choices_ = 0;
};

}  // namespace ingot
