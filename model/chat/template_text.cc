#include "model/chat/template_text.h"

#include "base/utf8.h"
#include "model/unicode/properties.h"

namespace ingot::chat {

TextCharacter decode_code_point(std::string_view text, std::size_t offset) {
  const DecodedCharacter character = decode_utf8(text, offset);
  if (character.is_valid) return {character.code, character.size};
  return {stray_byte + static_cast<unsigned char>(text[offset]), 1};
}

void append_code_point(std::string& text, char32_t code_point) {
  if (code_point < stray_byte) return append_utf8(text, code_point);
  text.push_back(static_cast<char>(code_point - stray_byte));
}

std::size_t count_code_points(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t offset = 0; offset < text.size(); ++count) {
    offset += decode_utf8(text, offset).size;
  }
  return count;
}

std::size_t offset_of_code_point(std::string_view text, std::size_t index) {
  std::size_t offset = 0;
  for (; index > 0 && offset < text.size(); --index) offset += decode_utf8(text, offset).size;
  return offset;
}

std::u32string code_points_of(std::string_view text) {
  std::u32string code_points;
  code_points.reserve(text.size());
  for (std::size_t offset = 0; offset < text.size();) {
    const TextCharacter next = decode_code_point(text, offset);
    code_points.push_back(next.value);
    offset += next.bytes;
  }
  return code_points;
}

std::string utf8_of(std::u32string_view code_points) {
  std::string text;
  text.reserve(code_points.size());
  for (char32_t code_point : code_points) append_code_point(text, code_point);
  return text;
}

bool is_space(char32_t code_point) { return is_white_space(code_point) || (code_point >= 0x1C && code_point <= 0x1F); }

std::size_t space_at(std::string_view text, std::size_t offset) {
  if (offset >= text.size()) return 0;
  const TextCharacter next = decode_code_point(text, offset);
  return is_space(next.value) ? next.bytes : 0;
}

std::string_view strip_left(std::string_view text) {
  while (const std::size_t bytes = space_at(text, 0)) text.remove_prefix(bytes);
  return text;
}

std::string_view strip_right(std::string_view text) {
  while (!text.empty()) {
    const TextCharacter last = decode_code_point(text, previous_character(text, text.size()));
    if (!is_space(last.value)) break;
    text.remove_suffix(last.bytes);
  }
  return text;
}

}  // namespace ingot::chat
