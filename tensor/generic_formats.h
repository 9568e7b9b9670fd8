// Byte layouts of the formats that only scalar code reads (generic_codes.cc): those of two and three bits whose codes
// are points of a grid (grids.h), those of three values, and floats of four bits with small scales.
//
// Numbers of more than a byte stand least significant byte first. A block of 256 has eight groups of 32 in eights of
// elements: eight e of a block is elements 8 e to 8 e + 7.
#pragma once

#include "tensor/block_formats.h"

namespace ingot {

// Of each 32: four bytes that number points of the grid, then 28 bits of signs, seven an eight, and a scale s of four.
// scale (2 s + 1) / 8 point. Seven bits are the signs of an eight's first seven elements; the eighth makes their number
// even.
struct BlockIQ2_XXS {
  static constexpr int elements = 256;
  StoredHalf scale;
  std::uint8_t groups[8][8];
};

// Of each eight nine bits of a point and seven of signs; scales of sixteens in halves of bytes, as above.
struct BlockIQ2_XS {
  static constexpr int elements = 256;
  StoredHalf scale;
  std::uint8_t eights[32][2];
  std::uint8_t scales[8];
};

// Of each eight ten bits of a point, two of them in `high`, and a byte of signs.
struct BlockIQ2_S {
  static constexpr int elements = 256;
  StoredHalf scale;
  std::uint8_t points[32];
  std::uint8_t signs[32];
  std::uint8_t high[8];
  std::uint8_t scales[8];
};

// Points of four elements, a byte each; signs and scales as in iq2_xxs. scale (2 s + 1) / 4 point.
struct BlockIQ3_XXS {
  static constexpr int elements = 256;
  StoredHalf scale;
  std::uint8_t points[64];
  std::uint8_t groups[8][4];
};

// Points of four elements, nine bits, the highest in `high`; a byte of signs an eight. scale (2 s + 1) point.
struct BlockIQ3_S {
  static constexpr int elements = 256;
  StoredHalf scale;
  std::uint8_t points[64];
  std::uint8_t high[8];
  std::uint8_t signs[32];
  std::uint8_t scales[4];
};

// Points of eight elements in -1, 0 and 1, eleven bits, and a shift of an eighth up or down. scale (2 s + 1) (point +-
// 1/8). Of each 32 `high` has the upper three bits of four points, then the scale's three, then whether it is down.
struct BlockIQ1_S {
  static constexpr int elements = 256;
  StoredHalf scale;
  std::uint8_t points[32];
  std::uint8_t high[8][2];
};

// The same with a shift for each eight and a scale for each sixteen. Half of a byte of `high` is three bits of a point
// and whether its shift is down. Sixteen bits of `scales` are four scales of three bits, and above them four bits of
// the block's half.
struct BlockIQ1_M {
  static constexpr int elements = 256;
  std::uint8_t points[32];
  std::uint8_t high[16];
  std::uint8_t scales[4][2];
};

// scale (digit - 1). Two bits a digit, as in q2_k.
struct BlockTQ2_0 {
  static constexpr int elements = 256;
  std::uint8_t low[64];
  StoredHalf scale;
};

// scale (digit - 1). Five digits of base three a byte, as the fraction byte / 256 = 0.ddddd: byte j of the first 32 has
// elements j, j + 32 and so on to j + 128, byte j of the next 16 elements 160 + j, 176 + j and so on, and byte j of the
// last four four of the last sixteen.
struct BlockTQ1_0 {
  static constexpr int elements = 256;
  std::uint8_t fives[48];
  std::uint8_t fours[4];
  StoredHalf scale;
};

// Groups of 16: e4m3_scale(scales[g]) mxfp4_values[code]. Byte j of a group's eight has elements j and j + 8.
struct BlockNVFP4 {
  static constexpr int elements = 64;
  std::uint8_t scales[4];
  std::uint8_t low[4][8];
};

// Half of what an unsigned float of four bits of exponent and three of fraction means, because mxfp4_values are
// doubled. The top bit counts for nothing; 0x7f is no number, and 0 here.
constexpr float e4m3_scale(std::uint8_t stored) {
  if (stored == 0x7f) return 0;
  const auto fraction = static_cast<float>(stored & 7);
  const int exponent = stored >> 3 & 15;
  if (exponent == 0) return fraction * 0x1p-10f;
  return (8 + fraction) * std::bit_cast<float>(static_cast<std::uint32_t>(exponent - 11 + 127) << 23);
}

static_assert(block_matches<DType::iq2_xxs, BlockIQ2_XXS> && block_matches<DType::iq2_xs, BlockIQ2_XS>);
static_assert(block_matches<DType::iq2_s, BlockIQ2_S> && block_matches<DType::iq3_xxs, BlockIQ3_XXS>);
static_assert(block_matches<DType::iq3_s, BlockIQ3_S> && block_matches<DType::iq1_s, BlockIQ1_S>);
static_assert(block_matches<DType::iq1_m, BlockIQ1_M> && block_matches<DType::tq2_0, BlockTQ2_0>);
static_assert(block_matches<DType::tq1_0, BlockTQ1_0> && block_matches<DType::nvfp4, BlockNVFP4>);

// Calls function.template operator()<Block>() with the struct of a generic format. Precondition:
// is_generic_format(dtype).
template <class Function>
constexpr decltype(auto) with_generic_type(DType dtype, Function&& function) {
  switch (dtype) {
    case DType::iq3_s: return function.template operator()<BlockIQ3_S>();
    case DType::iq3_xxs: return function.template operator()<BlockIQ3_XXS>();
    case DType::iq2_s: return function.template operator()<BlockIQ2_S>();
    case DType::iq2_xs: return function.template operator()<BlockIQ2_XS>();
    case DType::iq2_xxs: return function.template operator()<BlockIQ2_XXS>();
    case DType::iq1_m: return function.template operator()<BlockIQ1_M>();
    case DType::iq1_s: return function.template operator()<BlockIQ1_S>();
    case DType::tq2_0: return function.template operator()<BlockTQ2_0>();
    case DType::tq1_0: return function.template operator()<BlockTQ1_0>();
    default: return function.template operator()<BlockNVFP4>();
  }
}

}  // namespace ingot
