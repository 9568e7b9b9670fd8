#include "train/data/text_pieces.h"

#include <cstdint>

#include "base/utf8.h"
#include "model/unicode/properties.h"

namespace ingot {

namespace {

// The nearest place at or before this one that is not inside of a character.
std::size_t character_begin(std::string_view text, std::size_t position) {
  for (std::size_t back = 0; back < 4 && back < position; ++back) {
    if (!continues_character(text[position - back])) return position - back;
  }
  return position;  // no UTF-8: one place is as good as another
}

// Precondition: text[position - 1] is a line's end.
bool begins_token_everywhere(std::string_view text, std::size_t position) {
  if (position < 2 || !has_category(decode_utf8(text, position).code, letter_bits)) return false;
  return !is_white_space(decode_utf8(text, character_begin(text, position - 2)).code);
}

// Precondition: text.size() > limit.
std::size_t find_cut(std::string_view text, std::size_t limit) {
  std::size_t line = 0;
  for (std::size_t position = limit; position > limit / 2; --position) {
    if (text[position - 1] != '\n') continue;
    if (begins_token_everywhere(text, position)) return position;
    if (line == 0) line = position;
  }
  return line != 0 ? line : character_begin(text, limit);
}

}  // namespace

std::optional<TextPiece> TextPieces::next() {
  const std::string_view rest = text_.substr(position_);
  if (rest.empty()) return std::nullopt;
  // No further than a separator may begin: a search through the whole rest for each piece would take quadratic time.
  const std::string_view reach = rest.substr(0, limit_ + separator_.size());
  const std::size_t end = separator_.empty() ? std::string_view::npos : reach.find(separator_);
  if (end != std::string_view::npos) {
    position_ += end + separator_.size();
    return TextPiece{rest.substr(0, end), true};
  }
  if (rest.size() <= limit_) {
    position_ = text_.size();
    return TextPiece{rest, true};
  }
  const std::size_t cut = find_cut(rest, limit_);
  position_ += cut;
  return TextPiece{rest.substr(0, cut), false};
}

}  // namespace ingot
