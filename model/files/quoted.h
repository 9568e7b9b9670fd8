// Text from a file inside an error message: short, on one line, and harmless to a terminal.
#pragma once

#include <cstddef>
#include <string_view>

namespace ingot {

struct Quoted {
  static constexpr std::size_t longest = 80;
  std::string_view text;
};

template <class Text>
constexpr void describe(const Quoted& quoted, Text& text) {
  constexpr std::string_view digits = "0123456789abcdef";
  text.append('\'');
  for (char character : quoted.text.substr(0, Quoted::longest)) {
    const auto code = static_cast<unsigned char>(character);
    if (code >= 0x20 && code < 0x7f) {
      text.append(character);
    } else {
      text.append_all("\\x", digits[code >> 4], digits[code & 15]);
    }
  }
  text.append(quoted.text.size() > Quoted::longest ? "...'" : "'");
}

}  // namespace ingot
