// Patterns that many tokenizers share.
#pragma once

#include <string>
#include <string_view>

namespace ingot {

// What GPT-2 began with, and byte-level vocabularies are split by unless they say otherwise.
inline constexpr std::string_view gpt2_pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

// BERT's: punctuation, and the ASCII signs that Unicode calls symbols.
inline constexpr std::string_view punctuation_pattern = R"([\p{P}$+<=>^`|~])";
inline constexpr std::string_view white_space_pattern = R"(\s+)";

// A pattern that matches the text and nothing else.
inline std::string literal_pattern(std::string_view text) {
  std::string pattern;
  for (char character : text) {
    if (std::string_view("\\.+*?()|[]{}^$").find(character) != std::string_view::npos) pattern += '\\';
    pattern += character;
  }
  return pattern;
}

}  // namespace ingot
