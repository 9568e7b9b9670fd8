// One split of a text into pieces: at the matches of a pattern, in one of five ways.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "model/tokenizer/description.h"
#include "model/tokenizer/pattern.h"

namespace ingot {

class Splitter {
 public:
  static Result<Splitter> create(std::string_view pattern, SplitBehavior behavior, bool is_inverted);

  // Every piece of the text split further.
  std::vector<TextRange> split(std::span<const CodePoint> text, std::span<const TextRange> pieces) const;

 private:
  // Groups of three digits counted from the right need an unbounded look-ahead as a pattern. The two ways in which they
  // are written are known as a whole: as groups, and as the empty places in front of them.
  enum class DigitGroups : std::uint8_t { none, groups, places };

  Splitter(SplitBehavior behavior, bool is_inverted) : behavior_(behavior), is_inverted_(is_inverted) {}
  void find_digit_groups(std::span<const CodePoint> text, std::vector<TextRange>& matches) const;

  std::optional<Pattern> pattern_;
  DigitGroups digit_groups_ = DigitGroups::none;
  SplitBehavior behavior_;
  bool is_inverted_;
};

}  // namespace ingot
