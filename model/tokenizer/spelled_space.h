// How SentencePiece writes a space inside of tokens, and replacing it.
#pragma once

#include <string>
#include <string_view>

namespace ingot {

inline constexpr std::string_view spelled_space = "\xe2\x96\x81";  // U+2581

// Precondition: from is not empty.
inline std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string result;
  for (;;) {
    const std::size_t found = text.find(from);
    result += text.substr(0, found);
    if (found == std::string_view::npos) return result;
    result += to;
    text.remove_prefix(found + from.size());
  }
}

}  // namespace ingot
