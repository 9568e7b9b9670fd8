// What Python's str methods know about code points: classes and case. Stray bytes (see utf8.h) belong to no class.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/unicode/properties.h"

namespace ingot::chat {

inline bool is_alphabetic(char32_t code_point) { return has_category(code_point, letter_bits); }
inline bool is_decimal(char32_t code_point) { return category_of(code_point) == Category::nd; }
inline bool is_numeric(char32_t code_point) { return is_number(code_point); }
inline bool is_titlecase(char32_t code_point) { return category_of(code_point) == Category::lt; }
inline bool is_printable(char32_t code_point) {
  constexpr std::uint32_t unprintable_bits =
      bit_of(Category::cn) | category_bits(Category::zs, Category::zp) | category_bits(Category::cc, Category::co);
  return code_point == ' ' || !has_category(code_point, unprintable_bits);
}
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
