#include "model/chat/utf8.h"

namespace ingot::chat {

namespace {

unsigned char byte_at(std::string_view text, std::size_t offset) { return static_cast<unsigned char>(text[offset]); }

bool is_continuation(std::string_view text, std::size_t offset) {
  return offset < text.size() && (byte_at(text, offset) & 0xC0) == 0x80;
}

}  // namespace

CodePoint decode_code_point(std::string_view text, std::size_t offset) {
  const unsigned char lead = byte_at(text, offset);
  if (lead < 0x80) return {lead, 1};
  const CodePoint stray = {stray_byte + lead, 1};
  std::size_t length = 0;
  char32_t value = 0;
  char32_t least = 0;
  if ((lead & 0xE0) == 0xC0) {
    length = 2, value = lead & 0x1Fu, least = 0x80;
  } else if ((lead & 0xF0) == 0xE0) {
    length = 3, value = lead & 0x0Fu, least = 0x800;
  } else if ((lead & 0xF8) == 0xF0) {
    length = 4, value = lead & 0x07u, least = 0x10000;
  } else {
    return stray;
  }
  for (std::size_t index = 1; index < length; ++index) {
    if (!is_continuation(text, offset + index)) return stray;
    value = (value << 6) | (byte_at(text, offset + index) & 0x3Fu);
  }
  if (value < least || value > 0x10FFFF || (value >= 0xD800 && value < 0xE000)) return stray;
  return {value, length};
}

void append_code_point(std::string& text, char32_t code_point) {
  const auto append = [&text](char32_t byte) { text.push_back(static_cast<char>(byte)); };
  if (code_point >= stray_byte) {
    append(code_point - stray_byte);
  } else if (code_point < 0x80) {
    append(code_point);
  } else if (code_point < 0x800) {
    append(0xC0 | (code_point >> 6));
    append(0x80 | (code_point & 0x3F));
  } else if (code_point < 0x10000) {
    append(0xE0 | (code_point >> 12));
    append(0x80 | ((code_point >> 6) & 0x3F));
    append(0x80 | (code_point & 0x3F));
  } else {
    append(0xF0 | (code_point >> 18));
    append(0x80 | ((code_point >> 12) & 0x3F));
    append(0x80 | ((code_point >> 6) & 0x3F));
    append(0x80 | (code_point & 0x3F));
  }
}

std::size_t count_code_points(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t offset = 0; offset < text.size(); ++count) {
    offset += byte_at(text, offset) < 0x80 ? 1 : decode_code_point(text, offset).bytes;
  }
  return count;
}

std::size_t offset_of_code_point(std::string_view text, std::size_t index) {
  std::size_t offset = 0;
  for (; index > 0 && offset < text.size(); --index) offset += decode_code_point(text, offset).bytes;
  return offset;
}

std::u32string code_points_of(std::string_view text) {
  std::u32string code_points;
  code_points.reserve(text.size());
  for (std::size_t offset = 0; offset < text.size();) {
    const CodePoint next = decode_code_point(text, offset);
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

bool is_space(char32_t code_point) {
  if (code_point < 0x80)
    return code_point == ' ' || (code_point >= 9 && code_point <= 13) || (code_point >= 0x1C && code_point <= 0x1F);
  return code_point == 0x85 || code_point == 0xA0 || code_point == 0x1680 ||
         (code_point >= 0x2000 && code_point <= 0x200A) || code_point == 0x2028 || code_point == 0x2029 ||
         code_point == 0x202F || code_point == 0x205F || code_point == 0x3000;
}

std::size_t space_at(std::string_view text, std::size_t offset) {
  if (offset >= text.size()) return 0;
  const CodePoint next = decode_code_point(text, offset);
  return is_space(next.value) ? next.bytes : 0;
}

std::string_view strip_left(std::string_view text) {
  while (const std::size_t bytes = space_at(text, 0)) text.remove_prefix(bytes);
  return text;
}

std::string_view strip_right(std::string_view text) {
  while (!text.empty()) {
    std::size_t start = text.size() - 1;
    while (start > 0 && text.size() - start < 4 && (byte_at(text, start) & 0xC0) == 0x80) --start;
    const CodePoint last = decode_code_point(text, start);
    if (start + last.bytes != text.size() || !is_space(last.value)) break;
    text.remove_suffix(last.bytes);
  }
  return text;
}

}  // namespace ingot::chat
