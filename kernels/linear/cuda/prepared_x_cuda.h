// x as device products take it, in scratch: rounded to the weights' type, or as codes in the order of a matrix
// instruction's lanes. Spans are 256 elements; what is beyond the depth is zero.
#pragma once

#include <cstdint>

namespace ingot {

inline constexpr std::uint32_t span_elements = 256;
inline constexpr std::uint32_t span_words = span_elements / 4;
inline constexpr std::uint32_t span_groups = 8;  // of 32 elements

constexpr std::uint32_t spans_of(std::uint32_t depth) { return (depth + span_elements - 1) / span_elements; }

// Codes of x: of floats, or moved from where they are given.
//
//   codes[row][span][t][group][2]   words: codes 4 t to 4 t + 3 of the group's 32, and those 16 further
//   scales[row][span][8], or [row][span] where blocks have 256 elements
//   sums[row][span][16]             of each 16 codes
//
// or, where there are no sums, for rows of whole spans: scales[row][depth / block] and codes[row][depth] as they are,
// or laid as lanes of a matrix instruction take eight rows,
//
//   codes[row / 8][span][pair of groups][lane 4 (row % 8) + t][group % 2][2]      words as above
struct CodedRows {
  const float* x;  // null: codes are given
  const std::int8_t* given_codes;
  const float* given_scales;
  std::int64_t x_stride, codes_stride, scales_stride;  // from row to row, in elements
  std::uint32_t rows;
  std::uint32_t depth;
  std::uint32_t block;  // 32 or 256
  bool is_aligned;      // rows of x are whole groups of 16 bytes
  std::uint32_t* codes;
  float* scales;
  std::int32_t* sums;  // null: there are none
  bool is_laid;        // without sums
};

// Numbers of 16 bits: rows of `stride`, a multiple of 64.
struct RoundedRows {
  const float* x;
  std::int64_t x_stride;
  std::uint32_t depth;
  std::uint32_t stride;
  bool is_aligned;  // rows of x are whole groups of 16 bytes
  std::uint16_t* rounded;
  float* from_halves;  // of each row; null: to bf16, without a scale
};

}  // namespace ingot
