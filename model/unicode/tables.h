// The Unicode tables that make_tables.py writes; properties.h, letter_case.h and normalization.h are what others
// include.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ingot::unicode_tables {

struct CodePointRange {
  std::uint32_t first, last;
};
// Every step-th code point of first..last becomes itself plus `distance`.
struct CaseRange {
  std::uint32_t first, last, step;
  std::int32_t distance;
};
// A code point that becomes several; the text ends at the first 0.
struct CaseText {
  std::uint32_t code;
  std::uint32_t text[3];
};
struct CombiningRange {
  std::uint32_t first, last;
  std::uint8_t order;
};
struct Composition {
  std::uint32_t first, second, composed;
};

// Code point << 5 | general category, where the category changes.
extern const std::uint32_t category_starts[];
extern const std::size_t category_starts_size;
// Code points with a property that their category does not tell: superscripts, ideographs of numbers, Roman numerals.
extern const CodePointRange other_digits[], other_numbers[], other_lowercase[], other_uppercase[];
extern const std::size_t other_digits_size, other_numbers_size, other_lowercase_size, other_uppercase_size;
extern const CodePointRange han[], hiragana[], katakana[], hangul[];
extern const std::size_t han_size, hiragana_size, katakana_size, hangul_size;

// Titles where they differ from upper case, folds where they differ from lower case.
extern const CaseRange lower_ranges[], upper_ranges[], title_ranges[], fold_ranges[];
extern const std::size_t lower_ranges_size, upper_ranges_size, title_ranges_size, fold_ranges_size;
extern const CaseText lower_texts[], upper_texts[], title_texts[], fold_texts[];
extern const std::size_t lower_texts_size, upper_texts_size, title_texts_size, fold_texts_size;

// Code point << 1 | is compatibility; the parts lie in the pool, the first with their count << 24.
extern const std::uint32_t decomposition_code_points[];
extern const std::size_t decomposition_code_points_size;
extern const std::uint16_t decomposition_offsets[];
extern const std::size_t decomposition_offsets_size;
extern const std::uint32_t decomposition_pool[];
extern const std::size_t decomposition_pool_size;
extern const Composition compositions[];
extern const std::size_t compositions_size;
extern const CombiningRange combining_ranges[];
extern const std::size_t combining_ranges_size;

}  // namespace ingot::unicode_tables
