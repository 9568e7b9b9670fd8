// The packed 6-bit scales and minimums of K formats, a byte a group: four bytes at a time, what k_scale, k_minimum and
// q3_k_scale do one by one.
#pragma once

#include <cstring>

#include "tensor/block_formats.h"

namespace ingot {

inline std::uint32_t word_at(const std::uint8_t* from) {
  std::uint32_t word;
  std::memcpy(&word, from, sizeof(word));
  return word;
}

struct SixBitPairs {
  std::uint32_t scales[2];
  std::uint32_t minimums[2];
};
inline SixBitPairs six_bit_pairs(const std::uint8_t (&packed)[12]) {
  constexpr std::uint32_t six = 0x3f3f3f3f, four = 0x0f0f0f0f, two = 0x30303030;
  const std::uint32_t first = word_at(packed), second = word_at(packed + 4), third = word_at(packed + 8);
  return {{first & six, (third & four) | (first >> 2 & two)},
          {second & six, (third >> 4 & four) | (second >> 2 & two)}};
}

// Each 32 too large.
struct SixBitScales {
  std::uint32_t scales[4];
};
inline SixBitScales six_bit_scales(const std::uint8_t (&packed)[12]) {
  constexpr std::uint32_t four = 0x0f0f0f0f, two = 0x30303030;
  const std::uint32_t a = word_at(packed), b = word_at(packed + 4), c = word_at(packed + 8);
  return {{(a & four) | (c << 4 & two), (b & four) | (c << 2 & two), (a >> 4 & four) | (c & two),
           (b >> 4 & four) | (c >> 2 & two)}};
}

}  // namespace ingot
