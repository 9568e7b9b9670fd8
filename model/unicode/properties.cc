#include "model/unicode/properties.h"

#include <algorithm>
#include <array>
#include <vector>

namespace ingot {

namespace {

using namespace unicode_tables;

// Two stages: pages of equal content are stored once, so that the whole of Unicode takes some tens of KiB and a lookup
// takes two loads.
class CategoryMap {
 public:
  CategoryMap() {
    std::array<std::uint8_t, page_size> page{};
    std::size_t range = 0;
    for (CodePoint first = 0; first < code_point_limit; first += page_size) {
      for (CodePoint code = first; code < first + page_size; ++code) {
        while (range + 1 < category_starts_size && (category_starts[range + 1] >> 5) <= code) ++range;
        page[code - first] = category_starts[range] & 31;
      }
      auto found = std::find(pages_.begin(), pages_.end(), page);
      if (found == pages_.end()) found = pages_.insert(found, page);
      page_of_[first / page_size] = static_cast<std::uint16_t>(found - pages_.begin());
    }
  }

  Category operator[](CodePoint code) const {
    return static_cast<Category>(pages_[page_of_[code / page_size]][code % page_size]);
  }

 private:
  static constexpr std::size_t page_size = 128;
  std::array<std::uint16_t, code_point_limit / page_size> page_of_{};
  std::vector<std::array<std::uint8_t, page_size>> pages_;
};

}  // namespace

Category category_of(CodePoint code) {
  static const CategoryMap map;
  return code < code_point_limit ? map[code] : Category::cn;
}

bool is_white_space(CodePoint code) {
  if (code < 0x80) return code == ' ' || (code >= 9 && code <= 13);
  if (code < 0x1680) return code == 0x85 || code == 0xa0;
  return code == 0x1680 || (code >= 0x2000 && code <= 0x200a) || code == 0x2028 || code == 0x2029 || code == 0x202f ||
         code == 0x205f || code == 0x3000;
}

bool is_word_character(CodePoint code) {
  constexpr std::uint32_t bits =
      letter_bits | mark_bits | bit_of(Category::nd) | bit_of(Category::nl) | bit_of(Category::pc);
  if (has_category(code, bits)) return true;
  // Circled and squared letters, which are alphabetic symbols, and Latin-1's superscripts and fractions: Oniguruma
  // counts them, and patterns are written for it.
  if (code < 0xbf) return code == 0xb2 || code == 0xb3 || code == 0xb9 || code >= 0xbc;
  return (code >= 0x24b6 && code <= 0x24e9) || (code >= 0x1f130 && code <= 0x1f149) ||
         (code >= 0x1f150 && code <= 0x1f169) || (code >= 0x1f170 && code <= 0x1f189);
}

bool is_digit(CodePoint code) {
  return category_of(code) == Category::nd || is_in({other_digits, other_digits_size}, code);
}

bool is_number(CodePoint code) {
  return has_category(code, number_bits) || is_in({other_numbers, other_numbers_size}, code);
}

bool is_lowercase(CodePoint code) {
  return category_of(code) == Category::ll || is_in({other_lowercase, other_lowercase_size}, code);
}

bool is_uppercase(CodePoint code) {
  return category_of(code) == Category::lu || is_in({other_uppercase, other_uppercase_size}, code);
}

}  // namespace ingot
