// Tiles of the layout planes16 (planes.h): 16 rows of a block format by 256 elements, as lanes of a device's matrix
// instruction take them.
//
// Lane 4 g + t of 32 has rows g and g + 8 (half 0 and 1 of the tile), and of each of the eight groups of 32 elements
// two words of four codes: elements 4 t to 4 t + 3 (part 0), and those 16 further (part 1). A unit is four words of a
// lane, and units of the 32 lanes stand together.
#pragma once

#include "tensor/block_formats.h"

namespace ingot {

inline constexpr std::int64_t plane_rows = 16;
inline constexpr std::int64_t plane_depth = 256;

struct PlaneUnit {
  std::uint8_t words[4][4];
};

// Unsigned codes of four bits, those of part 1 above those of part 0: word j of units[u] is group 4 u + j.
struct NibblePlane {
  PlaneUnit units[2][2][32];  // [u][half][lane]
};
// A fifth bit: word j of a half has that of group 4 j + i, part p at bit 2 i + p of each byte.
struct FifthBitPlane {
  std::uint8_t words[32][2][2][4];  // [lane][half][j]
};

template <class Block>
struct PlaneTile;

template <>
struct PlaneTile<BlockQ8_0> {
  PlaneUnit codes[4][2][32];  // [u][half][lane]: parts 0 and 1 of group 2 u, and of group 2 u + 1
  StoredHalf scales[16][8];   // of a row's eight blocks
};
template <>
struct PlaneTile<BlockQ4_0> {
  NibblePlane low;
  StoredHalf scales[16][8];
};
template <>
struct PlaneTile<BlockQ5_0> {
  NibblePlane low;
  FifthBitPlane high;
  StoredHalf scales[16][8];
};
template <>
struct PlaneTile<BlockQ4_K> {
  NibblePlane low;
  std::uint8_t heads[16][16];  // what stands in front of a block's codes: two halves, and the packed scales
};
template <>
struct PlaneTile<BlockQ5_K> {
  NibblePlane low;
  FifthBitPlane high;
  std::uint8_t heads[16][16];
};
// The upper two bits of groups 2 j and 2 j + 1 in word j: group 2 j + i, part p at bit 4 i + 2 p of each byte.
template <>
struct PlaneTile<BlockQ6_K> {
  NibblePlane low;
  PlaneUnit high[2][32];  // [half][lane]
  std::int8_t group_scales[16][16];
  StoredHalf scales[16];
};

template <class Block>
constexpr bool fills_its_tile = sizeof(PlaneTile<Block>) == plane_rows * plane_depth / Block::elements * sizeof(Block);
static_assert(fills_its_tile<BlockQ4_0> && fills_its_tile<BlockQ8_0> && fills_its_tile<BlockQ5_0>);
static_assert(fills_its_tile<BlockQ4_K> && fills_its_tile<BlockQ5_K> && fills_its_tile<BlockQ6_K>);

}  // namespace ingot
