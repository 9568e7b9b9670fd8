#include "model/tokenizer/splitter.h"
#include "model/unicode/properties.h"

#include <utility>

namespace ingot {

namespace {

struct Part {
  TextRange range;
  bool is_match;
};

// Matches and what lies between them, in order.
void find_parts(const std::vector<TextRange>& matches, std::size_t size, bool is_inverted, std::vector<Part>& parts) {
  parts.clear();
  std::size_t done = 0;
  for (const TextRange& match : matches) {
    if (match.begin > done) parts.push_back({{done, match.begin}, is_inverted});
    if (match.end > match.begin) parts.push_back({match, !is_inverted});
    done = match.end;
  }
  if (done < size) parts.push_back({{done, size}, is_inverted});
}

void append_pieces(std::span<const Part> parts, SplitBehavior behavior, std::size_t offset,
                   std::vector<TextRange>& pieces) {
  const auto append = [&](TextRange range) { pieces.push_back({range.begin + offset, range.end + offset}); };
  for (std::size_t index = 0; index < parts.size(); ++index) {
    const bool follows_match = index > 0 && parts[index - 1].is_match;
    const Part& part = parts[index];
    bool is_joined = false;  // with the piece before
    switch (behavior) {
      case SplitBehavior::isolated: break;
      case SplitBehavior::removed:
        if (part.is_match) continue;
        break;
      case SplitBehavior::contiguous: is_joined = index > 0 && parts[index - 1].is_match == part.is_match; break;
      case SplitBehavior::merged_with_previous: is_joined = part.is_match && !follows_match && index > 0; break;
      // The last of neighbouring matches belongs to what comes next.
      case SplitBehavior::merged_with_next: is_joined = !part.is_match && follows_match; break;
    }
    if (is_joined) {
      pieces.back().end = part.range.end + offset;
    } else {
      append(part.range);
    }
  }
}

}  // namespace

Result<Splitter> Splitter::create(std::string_view pattern, SplitBehavior behavior, bool is_inverted) {
  Splitter splitter(behavior, is_inverted);
  if (pattern == R"(\d{1,3}(?=(?:\d{3})*\b))") {
    splitter.digit_groups_ = DigitGroups::groups;
  } else if (pattern == R"((?=(\d{3})+(?!\d)))") {
    splitter.digit_groups_ = DigitGroups::places;
  } else {
    splitter.pattern_ = TRY(Pattern::compile(pattern));
  }
  return splitter;
}

void Splitter::find_digit_groups(std::span<const CodePoint> text, std::vector<TextRange>& groups) const {
  const auto is_digit = [&](std::size_t at) { return has_category(text[at], bit_of(Category::nd)); };
  for (std::size_t begin = 0; begin < text.size();) {
    if (!is_digit(begin)) {
      ++begin;
      continue;
    }
    std::size_t end = begin;
    while (end < text.size() && is_digit(end)) ++end;
    const std::size_t odd = (end - begin) % 3;
    if (digit_groups_ == DigitGroups::places) {
      for (std::size_t place = begin + odd; place < end; place += 3) groups.push_back({place, place});
    } else if (end == text.size() || !is_word_character(text[end])) {
      if (odd != 0) groups.push_back({begin, begin + odd});
      for (std::size_t group = begin + odd; group < end; group += 3) groups.push_back({group, group + 3});
    }
    begin = end;
  }
}

std::vector<TextRange> Splitter::split(std::span<const CodePoint> text, std::span<const TextRange> pieces) const {
  std::vector<TextRange> result;
  result.reserve(pieces.size());
  std::vector<TextRange> matches;
  std::vector<Part> parts;
  Pattern::Scratch scratch;
  for (const TextRange& piece : pieces) {
    const std::span<const CodePoint> inside = text.subspan(piece.begin, piece.end - piece.begin);
    matches.clear();
    if (pattern_.has_value()) {
      pattern_->find_all(inside, matches, scratch);
    } else {
      find_digit_groups(inside, matches);
    }
    find_parts(matches, inside.size(), is_inverted_, parts);
    append_pieces(parts, behavior_, piece.begin, result);
  }
  return result;
}

}  // namespace ingot
