// UTF-8 (RFC 3629), the only decoder and encoder of the tree. No heap and no library: the OS kernel's terminal uses it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ingot {

using CodePoint = std::uint32_t;

constexpr CodePoint code_point_limit = 0x110000;
constexpr CodePoint replacement_character = 0xfffd;

// A byte that is neither a character of its own nor the first of one.
constexpr bool continues_character(char byte) { return (static_cast<std::uint8_t>(byte) & 0xc0) == 0x80; }

// Of a text that is UTF-8.
constexpr std::size_t count_characters(std::string_view text) {
  std::size_t count = 0;
  for (const char byte : text) count += continues_character(byte) ? 0 : 1;
  return count;
}

struct DecodedCharacter {
  CodePoint code;     // U+FFFD for a byte that begins no valid sequence
  std::uint8_t size;  // bytes taken, 1 for an invalid one
  bool is_valid;
};

// Bytes of the sequence that begins so; 0 where none does. Two leads and those above 0xf4 could only begin what is
// overlong or too large.
constexpr std::uint8_t utf8_sequence_size(char first) {
  const auto lead = static_cast<std::uint8_t>(first);
  if (lead < 0x80) return 1;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  return lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
}

// Precondition: position < text.size(). Overlong forms, surrogates and values from 0x110000 on are invalid.
constexpr DecodedCharacter decode_utf8(std::string_view text, std::size_t position) {
  constexpr DecodedCharacter invalid{replacement_character, 1, false};
  const auto byte = [&](std::size_t offset) { return static_cast<std::uint8_t>(text[position + offset]); };
  const std::uint8_t size = utf8_sequence_size(text[position]);
  if (size == 1) return {byte(0), 1, true};
  if (size == 0 || text.size() - position < size) return invalid;
  CodePoint code = byte(0) & (0x7fu >> size);
  for (std::size_t offset = 1; offset < size; ++offset) {
    if (!continues_character(text[position + offset])) return invalid;
    code = code << 6 | (byte(offset) & 0x3fu);
  }
  constexpr CodePoint least[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < least[size] || code >= code_point_limit || (code >= 0xd800 && code <= 0xdfff)) return invalid;
  return {code, size, true};
}

// Where the character before a place begins; bytes that are no UTF-8 are one each. Precondition: position is in
// (0, text.size()].
constexpr std::size_t previous_character(std::string_view text, std::size_t position) {
  std::size_t begin = position - 1;
  while (begin > 0 && position - begin < 4 && continues_character(text[begin])) --begin;
  return begin + decode_utf8(text.substr(0, position), begin).size == position ? begin : position - 1;
}

// Precondition: code < code_point_limit. A surrogate is spelled like its neighbours, and decodes to nothing valid.
template <class Text>
constexpr void append_utf8(Text& text, CodePoint code) {
  const auto append = [&](CodePoint byte) { text.push_back(static_cast<char>(byte)); };
  const auto tail = [&](int shift) { append(0x80 | (code >> shift & 0x3f)); };
  if (code < 0x80) return append(code);
  if (code < 0x800) {
    append(0xc0 | code >> 6);
    return tail(0);
  }
  if (code < 0x10000) {
    append(0xe0 | code >> 12);
  } else {
    append(0xf0 | code >> 18);
    tail(12);
  }
  tail(6);
  tail(0);
}

// 0: text[position..] begins no valid sequence and never will; n > 0: it is a proper prefix of one of n bytes.
// Precondition: position < text.size().
constexpr std::size_t incomplete_sequence_size(std::string_view text, std::size_t position) {
  const std::size_t size = utf8_sequence_size(text[position]);
  const std::size_t present = text.size() - position;
  if (present >= size) return 0;
  // Completing with the highest, then the lowest tail tells whether any completion is valid.
  for (const char filler : {'\xbf', '\x80'}) {
    char completed[4] = {filler, filler, filler, filler};
    for (std::size_t offset = 0; offset < present; ++offset) completed[offset] = text[position + offset];
    if (decode_utf8({completed, size}, 0).is_valid) return size;
  }
  return 0;
}

}  // namespace ingot
