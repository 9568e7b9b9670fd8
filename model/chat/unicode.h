// What Python's str methods know about code points: classes and case. Stray bytes (see utf8.h) belong to no class.
#pragma once

#include <string>
#include <string_view>

namespace ingot::chat {

bool is_alphabetic(char32_t code_point);
bool is_decimal(char32_t code_point);
bool is_digit(char32_t code_point);
bool is_numeric(char32_t code_point);
bool is_printable(char32_t code_point);
bool is_lowercase(char32_t code_point);
bool is_uppercase(char32_t code_point);
bool is_titlecase(char32_t code_point);
inline bool is_cased(char32_t code_point) {
  return is_lowercase(code_point) || is_uppercase(code_point) || is_titlecase(code_point);
}
inline bool is_word_character(char32_t code_point) {
  return code_point == '_' || is_alphabetic(code_point) || is_numeric(code_point);
}

// Full case mapping: one code point may become up to three.
std::string uppercase(std::string_view text);
std::string lowercase(std::string_view text);
std::string casefold(std::string_view text);
std::string swapcase(std::string_view text);
std::string capitalize(std::string_view text);
std::string titlecase(std::string_view text);

}  // namespace ingot::chat
