// GPT-2's alphabet: each byte as one printable code point, so that a vocabulary of bytes can be written as text.
// Printable Latin-1 stands for itself, the other 68 bytes for U+0100 and on, in order.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/utf8.h"

namespace ingot {

constexpr bool is_its_own_letter(int byte) {
  return (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xff && byte != 0xad);
}

constexpr std::array<std::uint16_t, 256> byte_letters = [] {
  std::array<std::uint16_t, 256> letters{};
  std::uint16_t next = 0x100;
  for (int byte = 0; byte < 256; ++byte) {
    letters[static_cast<std::size_t>(byte)] = is_its_own_letter(byte) ? static_cast<std::uint16_t>(byte) : next++;
  }
  return letters;
}();

inline std::string spelled_bytes(std::string_view bytes) {
  std::string text;
  for (char byte : bytes) append_utf8(text, byte_letters[static_cast<std::uint8_t>(byte)]);
  return text;
}

// Nothing where a character is not of the alphabet.
inline std::optional<std::string> bytes_of_spelled(std::string_view text) {
  constexpr auto byte_of = [] {
    std::array<std::int16_t, 0x144> bytes{};
    bytes.fill(-1);
    for (std::size_t byte = 0; byte < 256; ++byte) bytes[byte_letters[byte]] = static_cast<std::int16_t>(byte);
    return bytes;
  }();
  std::string bytes;
  for (std::size_t position = 0; position < text.size();) {
    const DecodedCharacter character = decode_utf8(text, position);
    if (!character.is_valid || character.code >= byte_of.size() || byte_of[character.code] < 0) return std::nullopt;
    bytes += static_cast<char>(byte_of[character.code]);
    position += character.size;
  }
  return bytes;
}

}  // namespace ingot
