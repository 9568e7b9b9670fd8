#include "server/protocol/json_text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/utf8.h"

namespace ingot::protocol {

namespace {

// Bytes that stand for themselves; the others are looked at.
constexpr std::array<bool, 256> plain_bytes = [] {
  std::array<bool, 256> plain = {};
  for (std::size_t byte = 0x20; byte < 0x80; ++byte) plain[byte] = byte != '"' && byte != '\\';
  return plain;
}();

void append_code(std::string& json, CodePoint code) {
  constexpr std::string_view digits = "0123456789abcdef";
  json += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) json += digits[code >> shift & 0xf];
}

void append_character(std::string& json, std::string_view text, const DecodedCharacter& character, std::size_t place) {
  switch (character.code) {
    case '"': json += "\\\""; return;
    case '\\': json += "\\\\"; return;
    case '\n': json += "\\n"; return;
    case '\r': json += "\\r"; return;
    case '\t': json += "\\t"; return;
    case 0x85:
    case 0x2028:
    case 0x2029: return append_code(json, character.code);
    default: break;
  }
  if (character.code < 0x20) return append_code(json, character.code);
  if (!character.is_valid) return append_utf8(json, replacement_character);
  json += text.substr(place, character.size);
}

template <class Number>
void append_shortest(std::string& json, Number value) {
  if (std::isnan(value)) value = 0;
  if (std::isinf(value)) value = std::copysign(std::numeric_limits<Number>::max(), value);
  char digits[40];
  const auto written = std::to_chars(std::begin(digits), std::end(digits), value);
  json.append(digits, written.ptr);
}

}  // namespace

void append_escaped(std::string& json, std::string_view text) {
  std::size_t begin = 0;
  std::size_t place = 0;
  while (place < text.size()) {
    if (plain_bytes[static_cast<std::uint8_t>(text[place])]) {
      ++place;
      continue;
    }
    json += text.substr(begin, place - begin);
    const DecodedCharacter character = decode_utf8(text, place);
    append_character(json, text, character, place);
    place += character.size;
    begin = place;
  }
  json += text.substr(begin);
}

void append_item(std::string& list, std::string_view item) {
  if (!list.empty()) list += ',';
  list += item;
}

void append_integer(std::string& json, std::int64_t value) {
  char digits[24];
  const auto written = std::to_chars(std::begin(digits), std::end(digits), value);
  json.append(digits, written.ptr);
}

void append_number(std::string& json, double value) { append_shortest(json, value); }
void append_number(std::string& json, float value) { append_shortest(json, value); }

JsonWriter& JsonWriter::key(std::string_view name) {
  text(name);
  *json_ += ':';
  wants_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::text(std::string_view value) {
  separate();
  *json_ += '"';
  append_escaped(*json_, value);
  *json_ += '"';
  return *this;
}

JsonWriter& JsonWriter::raw(std::string_view json) {
  separate();
  *json_ += json;
  return *this;
}

JsonWriter& JsonWriter::open(char bracket) {
  separate();
  *json_ += bracket;
  wants_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::close(char bracket) {
  *json_ += bracket;
  wants_comma_ = true;
  return *this;
}

void JsonWriter::separate() {
  if (wants_comma_) *json_ += ',';
  wants_comma_ = true;
}

}  // namespace ingot::protocol
