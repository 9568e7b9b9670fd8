// Properties of code points: general categories, white space, and what categories do not tell.
#pragma once

#include <cstdint>
#include <span>

#include "base/utf8.h"
#include "model/unicode/tables.h"

namespace ingot {

// In the order of make_tables.py.
enum class Category : std::uint8_t {
  cn,
  lu,
  ll,
  lt,
  lm,
  lo,
  mn,
  mc,
  me,
  nd,
  nl,
  no,
  pc,
  pd,
  ps,
  pe,
  pi,
  pf,
  po,
  sm,
  sc,
  sk,
  so,
  zs,
  zl,
  zp,
  cc,
  cf,
  cs,
  co,
};

constexpr std::uint32_t bit_of(Category category) { return 1u << static_cast<unsigned>(category); }
constexpr std::uint32_t category_bits(Category first, Category last) { return (bit_of(last) << 1) - bit_of(first); }
constexpr std::uint32_t letter_bits = category_bits(Category::lu, Category::lo);
constexpr std::uint32_t mark_bits = category_bits(Category::mn, Category::me);
constexpr std::uint32_t number_bits = category_bits(Category::nd, Category::no);
constexpr std::uint32_t punctuation_bits = category_bits(Category::pc, Category::po);
constexpr std::uint32_t symbol_bits = category_bits(Category::sm, Category::so);

Category category_of(CodePoint code);
inline bool has_category(CodePoint code, std::uint32_t bits) { return (bit_of(category_of(code)) & bits) != 0; }
bool is_white_space(CodePoint code);
// Letters, marks, decimal and letter-like numbers, connectors: what \w stands for.
bool is_word_character(CodePoint code);

// Wider than their categories: superscripts are digits, some ideographs numbers, letters in circles have a case.
bool is_digit(CodePoint code);
bool is_number(CodePoint code);
bool is_lowercase(CodePoint code);
bool is_uppercase(CodePoint code);

inline bool is_in(std::span<const unicode_tables::CodePointRange> ranges, CodePoint code) {
  for (const unicode_tables::CodePointRange& range : ranges) {
    if (code <= range.last) return code >= range.first;
  }
  return false;
}

}  // namespace ingot
