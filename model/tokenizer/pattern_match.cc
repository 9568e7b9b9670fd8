#include <algorithm>
#include <optional>

#include "model/tokenizer/pattern.h"
#include "model/unicode/properties.h"

namespace ingot {

// One text's search. The argument `remembers` of its templates says whether failures are noted (see pattern.h).
class PatternMatcher {
 public:
  PatternMatcher(const Pattern& pattern, std::span<const CodePoint> text, Pattern::Scratch& scratch)
      : pattern_(pattern), text_(text), steps_left_(16 * text.size() + 4096), pending_(scratch) {}

  void find_all(std::vector<TextRange>& matches) {
    for (std::size_t start = 0; start < text_.size();) {
      const std::optional<std::size_t> end = match_at(start);
      if (!end.has_value() || *end == start) {
        ++start;
        continue;
      }
      matches.push_back({start, *end});
      start = *end;
    }
  }

 private:
  using Opcode = Pattern::Opcode;
  using Instruction = Pattern::Instruction;

  enum class Outcome : std::uint8_t { matched, failed, out_of_steps };

  std::optional<std::size_t> match_at(std::size_t start) {
    std::size_t end = 0;
    Outcome outcome = failures_.empty() ? attempt<false>(start, end) : attempt<true>(start, end);
    if (outcome == Outcome::out_of_steps) {
      failures_.resize(((text_.size() + 1) * pattern_.choices_ + 63) / 64 + 1);
      outcome = attempt<true>(start, end);
    }
    if (outcome != Outcome::matched) return std::nullopt;
    // Everything noted beyond the match has failed; at its end the table also holds the path that succeeded.
    if (!failures_.empty()) {
      for (std::uint32_t choice = 0; choice < pattern_.choices_; ++choice) note(choice, end, false);
    }
    return end;
  }

  template <bool remembers>
  Outcome attempt(std::size_t start, std::size_t& end) {
    pending_.clear();
    std::uint32_t instruction = 0;
    std::size_t position = start;
    for (;;) {
      if constexpr (!remembers) {
        if (steps_left_ == 0) return Outcome::out_of_steps;
        --steps_left_;
      }
      const Instruction& step = pattern_.program_[instruction];
      bool has_failed = false;
      switch (step.opcode) {
        case Opcode::accept: end = position; return Outcome::matched;
        case Opcode::jump: instruction = step.index; break;
        case Opcode::one_of:
          has_failed = !is_in_set(step.index, position);
          ++position;
          ++instruction;
          break;
        case Opcode::look_ahead:
          has_failed = looks_ahead(step.index, position) == step.is_negated;
          ++instruction;
          break;
        case Opcode::assertion:
          has_failed = !holds(step.assertion, position);
          ++instruction;
          break;
        case Opcode::split: {
          const Pattern::Beginnings& beginnings = pattern_.beginnings_[step.choice];
          if (remembers && !note(step.choice, position, true)) {
            has_failed = true;
          } else if (!may_begin(beginnings.first, position)) {
            instruction = step.second;
          } else {
            if (may_begin(beginnings.second, position)) pending_.push_back({step.second, position, position});
            instruction = step.index;
          }
          break;
        }
        case Opcode::stretch: has_failed = !take_stretch<remembers>(step, instruction, position); break;
      }
      if (has_failed && !resume(instruction, position)) return Outcome::failed;
    }
  }

  bool resume(std::uint32_t& instruction, std::size_t& position) {
    if (pending_.empty()) return false;
    Pattern::Resumption& next = pending_.back();
    instruction = next.instruction;
    position = next.position;
    if (next.position == next.least) {
      pending_.pop_back();
    } else {
      --next.position;
    }
    return true;
  }

  // Takes as many as it can and leaves the rest to resume(). Where failures are remembered, a position that an earlier
  // stretch of this instruction has passed is where everything from there on has failed.
  template <bool remembers>
  bool take_stretch(const Instruction& step, std::uint32_t& instruction, std::size_t& position) {
    const std::size_t limit = step.most == PatternNode::unbounded ? text_.size() : position + step.most;
    const std::size_t least = position + step.least;
    const bool is_noted = remembers && step.most == PatternNode::unbounded;
    if (remembers && !is_noted && !note(step.choice, position, true)) return false;
    std::size_t end = position;
    bool is_known_to_fail = false;
    for (; end < limit && is_in_set(step.index, end); ++end) {
      if (is_noted && end >= least && !note(step.choice, end, true)) {
        is_known_to_fail = true;
        break;
      }
    }
    if constexpr (!remembers) steps_left_ -= std::min(steps_left_, end - position);
    if (end < least) return false;
    // A possessive stretch gives nothing back, so the earlier one that passed here went on to the same end and failed.
    if (is_known_to_fail && (end == least || step.is_possessive)) return false;
    if (is_known_to_fail) {
      --end;
    } else if (is_noted && !note(step.choice, end, true)) {
      if (end == least || step.is_possessive) return false;
      --end;
    }
    ++instruction;
    if (end > least && !step.is_possessive) pending_.push_back({instruction, end - 1, least});
    position = end;
    return true;
  }

  // Whether the bit changed.
  bool note(std::uint32_t choice, std::size_t position, bool value) {
    const std::size_t index = position * pattern_.choices_ + choice;
    const std::uint64_t bit = std::uint64_t{1} << (index % 64);
    std::uint64_t& word = failures_[index / 64];
    if (((word & bit) != 0) == value) return false;
    word ^= bit;
    return true;
  }

  bool is_in_set(std::uint32_t set, std::size_t position) const {
    return position < text_.size() && pattern_.sets_[set].contains(text_[position]);
  }

  bool may_begin(const CodePointSet::Ascii& beginnings, std::size_t position) const {
    if (position >= text_.size() || text_[position] >= 128) return true;
    return (beginnings[text_[position] / 64] >> (text_[position] % 64) & 1) != 0;
  }

  bool looks_ahead(std::uint32_t index, std::size_t position) const {
    for (const Pattern::SetSequence& sets : pattern_.look_aheads_[index]) {
      std::size_t matched = 0;
      while (matched < sets.size() && is_in_set(sets[matched], position + matched)) ++matched;
      if (matched == sets.size()) return true;
    }
    return false;
  }

  bool holds(PatternAssertion assertion, std::size_t position) const {
    const auto is_word = [&](std::size_t at) { return at < text_.size() && is_word_character(text_[at]); };
    switch (assertion) {
      case PatternAssertion::line_begin: return position == 0 || text_[position - 1] == '\n';
      case PatternAssertion::line_end: return position == text_.size() || text_[position] == '\n';
      case PatternAssertion::text_begin: return position == 0;
      case PatternAssertion::text_end: return position == text_.size();
      case PatternAssertion::word_boundary: return (position > 0 && is_word(position - 1)) != is_word(position);
    }
    return false;
  }

  const Pattern& pattern_;
  std::span<const CodePoint> text_;
  std::size_t steps_left_;
  Pattern::Scratch& pending_;
  std::vector<std::uint64_t> failures_;  // empty until it is needed
};

void Pattern::find_all(std::span<const CodePoint> text, std::vector<TextRange>& matches, Scratch& scratch) const {
  PatternMatcher(*this, text, scratch).find_all(matches);
}

}  // namespace ingot
