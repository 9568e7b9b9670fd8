#include "server/protocol/token_spelling.h"

#include <algorithm>
#include <cmath>

#include "base/utf8.h"

namespace ingot::protocol {

bool is_utf8(std::string_view text) {
  for (std::size_t place = 0; place < text.size();) {
    const DecodedCharacter character = decode_utf8(text, place);
    if (!character.is_valid) return false;
    place += character.size;
  }
  return true;
}

std::string spelling(std::string_view piece, std::string_view prefix_of_bytes) {
  if (is_utf8(piece)) return std::string(piece);
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text(prefix_of_bytes);
  for (const char byte : piece) {
    const auto value = static_cast<std::uint8_t>(byte);
    text += "\\x";
    text += digits[value >> 4];
    text += digits[value & 0xf];
  }
  return text;
}

void add_bytes(JsonWriter& writer, std::string_view piece) {
  writer.open_list();
  for (const char byte : piece) writer.number(static_cast<std::uint8_t>(byte));
  writer.close_list();
}

void add_token(JsonWriter& writer, const Tokenizer& tokenizer, std::int32_t token, float log_probability) {
  const std::string_view bytes = tokenizer.piece(token);
  writer.key("token").text(spelling(bytes, "")).key("logprob").number(told_probability(log_probability));
  add_bytes(writer.key("bytes"), bytes);
}

float told_probability(float log_probability) {
  constexpr float impossible = -9999;
  return std::isfinite(log_probability) ? std::max(log_probability, impossible) : impossible;
}

}  // namespace ingot::protocol
