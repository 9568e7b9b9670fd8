// Byte layouts of the block formats, as GGUF files store them. All members are bytes, so a block may lie at any address
// and a struct has no padding on any machine. A half is stored least significant byte first.
//
// Formats of 32 elements keep the low four bits of element j and of element j + 16 in byte j. Formats of 256 elements
// (K) hold groups of 16 or 32 elements with small integer scales under one or two halves. `group` is how many elements
// share a scale.
#pragma once

#include <cstdint>

#include "tensor/dtype.h"

namespace ingot {

struct StoredHalf {
  std::uint8_t bytes[2];

  constexpr std::uint16_t bits() const { return static_cast<std::uint16_t>(bytes[0] | bytes[1] << 8); }
  constexpr float value() const { return float_from_half_bits(bits()); }
  constexpr void set(float value) {
    const std::uint16_t rounded = half_bits_from_float(value);
    bytes[0] = static_cast<std::uint8_t>(rounded);
    bytes[1] = static_cast<std::uint8_t>(rounded >> 8);
  }
};

struct BlockQ4_0 {  // scale (code - 8)
  static constexpr int elements = 32, group = 32;
  StoredHalf scale;
  std::uint8_t low[16];
};

struct BlockQ4_1 {  // scale code + base
  static constexpr int elements = 32, group = 32;
  StoredHalf scale, base;
  std::uint8_t low[16];
};

struct BlockQ5_0 {  // scale (code - 16); bit j of `high` is the fifth bit of element j
  static constexpr int elements = 32, group = 32;
  StoredHalf scale;
  std::uint8_t high[4];
  std::uint8_t low[16];
};

struct BlockQ5_1 {  // scale code + base
  static constexpr int elements = 32, group = 32;
  StoredHalf scale, base;
  std::uint8_t high[4];
  std::uint8_t low[16];
};

struct BlockQ8_0 {  // scale code
  static constexpr int elements = 32, group = 32;
  StoredHalf scale;
  std::int8_t codes[32];
};

struct BlockIQ4_NL {  // scale iq4_nl_values[code]
  static constexpr int elements = 32, group = 32;
  StoredHalf scale;
  std::uint8_t low[16];
};

struct BlockMXFP4 {  // 2^(exponent - 128) mxfp4_values[code]
  static constexpr int elements = 32, group = 32;
  std::uint8_t exponent;
  std::uint8_t low[16];
};

// Groups of 16: scale (scales[g] & 15) code - minimum (scales[g] >> 4).
// Byte l of a half's 32 holds, two bits each, elements l, l + 32, l + 64 and l + 96 of that half's 128.
struct BlockQ2_K {
  static constexpr int elements = 256, group = 16;
  std::uint8_t scales[16];
  std::uint8_t low[64];
  StoredHalf scale, minimum;
};

// Groups of 16: scale (scales[g] - 32) (code - 4). `low` as in q2_k; bit k of high[l] is the third bit of element
// 32 k + l. The sixteen 6-bit scales keep their low four bits in bytes 0 to 7 and their high two in bytes 8 to 11.
struct BlockQ3_K {
  static constexpr int elements = 256, group = 16;
  std::uint8_t high[32];
  std::uint8_t low[64];
  std::uint8_t scales[12];
  StoredHalf scale;
};

// Groups of 32: scale scales[g] code - minimum minimums[g], eight 6-bit pairs packed in 12 bytes (see k_scale).
// Bytes 32 k to 32 k + 31 hold group 2 k in their low and group 2 k + 1 in their high halves.
struct BlockQ4_K {
  static constexpr int elements = 256, group = 32;
  StoredHalf scale, minimum;
  std::uint8_t scales[12];
  std::uint8_t low[128];
};

// As q4_k, with bit g of high[l] the fifth bit of element l of group g.
struct BlockQ5_K {
  static constexpr int elements = 256, group = 32;
  StoredHalf scale, minimum;
  std::uint8_t scales[12];
  std::uint8_t high[32];
  std::uint8_t low[128];
};

// Groups of 16: scale scales[g] (code - 32). Within a half of 128 elements, bytes 0 to 63 of `low` hold the low four
// bits of elements 0 to 63 (low halves) and 64 to 127 (high halves), and byte l of 32 of `high` the upper two bits of
// elements l, l + 32, l + 64 and l + 96.
struct BlockQ6_K {
  static constexpr int elements = 256, group = 16;
  std::uint8_t low[128];
  std::uint8_t high[64];
  std::int8_t scales[16];
  StoredHalf scale;
};

// Groups of 32: scale (scales[g] - 32) iq4_nl_values[code]. The eight 6-bit scales keep their low four bits in halves
// of `scales_low` and their high two in sixteen bits. Bytes 16 g to 16 g + 15 of `low` are group g, as iq4_nl has
// its 32.
struct BlockIQ4_XS {
  static constexpr int elements = 256, group = 32;
  StoredHalf scale;
  std::uint8_t scales_high[2];
  std::uint8_t scales_low[4];
  std::uint8_t low[128];
};

inline constexpr std::int8_t iq4_nl_values[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                                  1,    13,   25,  38,  53,  69,  89,  113};
// Twice the values of a 4-bit float (1 sign, 2 exponent, 1 fraction bits), so that they are integers.
inline constexpr std::int8_t mxfp4_values[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

// 2^(exponent - 128), half of what an 8-bit exponent means, because mxfp4_values are doubled.
constexpr float mxfp4_scale(std::uint8_t exponent) {
  const std::uint32_t stored = exponent;
  return std::bit_cast<float>(stored < 2 ? 0x00200000u << stored : (stored - 1) << 23);
}

// The 6-bit scale and minimum of group g of q4_k and q5_k: the first four groups own the low six bits of bytes 0 to 7;
// the last four share bytes 8 to 11 for their low four bits and the upper two bits of bytes 0 to 7.
constexpr int k_scale(const std::uint8_t (&packed)[12], int g) {
  return g < 4 ? packed[g] & 63 : (packed[g + 4] & 15) | (packed[g - 4] >> 6) << 4;
}
constexpr int k_minimum(const std::uint8_t (&packed)[12], int g) {
  return g < 4 ? packed[g + 4] & 63 : packed[g + 4] >> 4 | (packed[g] >> 6) << 4;
}

// The 6-bit scale of group g of q3_k, with its offset of 32 taken off.
constexpr int q3_k_scale(const std::uint8_t (&packed)[12], int g) {
  const int low = g < 8 ? packed[g] & 15 : packed[g - 8] >> 4;
  return (low | (packed[8 + g % 4] >> 2 * (g / 4) & 3) << 4) - 32;
}

// The 6-bit scale of group g of iq4_xs, with its offset of 32 taken off.
constexpr int iq4_xs_scale(const BlockIQ4_XS& block, int g) {
  const int low = block.scales_low[g / 2] >> 4 * (g % 2) & 15;
  return (low | (block.scales_high[g / 4] >> 2 * (g % 4) & 3) << 4) - 32;
}

template <DType dtype, class Block>
constexpr bool block_matches = sizeof(Block) == static_cast<std::size_t>(block_bytes(dtype)) && alignof(Block) == 1 &&
                               Block::elements == block_elements(dtype);
static_assert(block_matches<DType::q4_0, BlockQ4_0> && block_matches<DType::q4_1, BlockQ4_1>);
static_assert(block_matches<DType::q5_0, BlockQ5_0> && block_matches<DType::q5_1, BlockQ5_1>);
static_assert(block_matches<DType::q8_0, BlockQ8_0> && block_matches<DType::iq4_nl, BlockIQ4_NL>);
static_assert(block_matches<DType::mxfp4, BlockMXFP4> && block_matches<DType::q2_k, BlockQ2_K>);
static_assert(block_matches<DType::q3_k, BlockQ3_K> && block_matches<DType::q4_k, BlockQ4_K>);
static_assert(block_matches<DType::q5_k, BlockQ5_K> && block_matches<DType::q6_k, BlockQ6_K>);
static_assert(block_matches<DType::iq4_xs, BlockIQ4_XS>);

}  // namespace ingot
