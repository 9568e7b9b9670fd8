// Text as a template sees it: a sequence of code points, stored as UTF-8. Bytes that are not UTF-8 count as one code
// point each and survive every round trip, because a chat's content comes from outside and must not be altered.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ingot::chat {

// A byte that is no UTF-8 decodes to this plus its value: above every Unicode code point.
constexpr char32_t stray_byte = 0x110000;

struct TextCharacter {
  char32_t value;
  std::size_t bytes;
};

// Precondition: offset < text.size().
TextCharacter decode_code_point(std::string_view text, std::size_t offset);
void append_code_point(std::string& text, char32_t code_point);

std::size_t count_code_points(std::string_view text);
// The byte where the code point `index` starts, or text.size() past the end.
std::size_t offset_of_code_point(std::string_view text, std::size_t index);
std::u32string code_points_of(std::string_view text);
std::string utf8_of(std::u32string_view code_points);

// Python's str.isspace: wider than ASCII, and what strip(), split() and whitespace control go by.
bool is_space(char32_t code_point);
std::string_view strip_left(std::string_view text);
std::string_view strip_right(std::string_view text);
// Bytes of white space at `offset`, 0 where there is none.
std::size_t space_at(std::string_view text, std::size_t offset);

}  // namespace ingot::chat
