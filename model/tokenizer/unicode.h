// Code points: UTF-8, general categories, white space, case and the scripts that patterns of tokenizers name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/tokenizer/unicode_tables.h"

namespace ingot {

using CodePoint = std::uint32_t;

constexpr CodePoint code_point_limit = 0x110000;
constexpr CodePoint replacement_character = 0xfffd;

// In the order of make_unicode_tables.py.
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
// The simple mapping; U+0130 alone has a longer one.
CodePoint lowercase_of(CodePoint code);
// Every code point that equals this one when case is ignored, itself among them.
std::vector<CodePoint> case_variants(CodePoint code);

inline bool is_in(std::span<const unicode_tables::CodeRange> ranges, CodePoint code) {
  for (const unicode_tables::CodeRange& range : ranges) {
    if (code <= range.last) return code >= range.first;
  }
  return false;
}

struct DecodedCharacter {
  CodePoint code;     // U+FFFD for a byte that begins no valid sequence
  std::uint8_t size;  // bytes taken, 1 for an invalid one
  bool is_valid;
};

// Precondition: position < text.size(). Overlong forms, surrogates and values from 0x110000 on are invalid.
DecodedCharacter decode_utf8(std::string_view text, std::size_t position);
// Precondition: code < code_point_limit.
void append_utf8(std::string& text, CodePoint code);

// 0: text[position..] begins no valid sequence and never will; n > 0: it is a proper prefix of one of n bytes.
std::size_t incomplete_sequence_size(std::string_view text, std::size_t position);

}  // namespace ingot
