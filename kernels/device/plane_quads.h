// Four neighbouring elements of a row that lies in planes (tensor/plane_tiles.h), as kernels/device/blocks.h decodes
// those of a row that lies as stored.
#pragma once

#include "kernels/device/blocks.h"
#include "tensor/plane_tiles.h"

namespace ingot::device {

// Where a quad stands in its tile.
struct QuadPlace {
  unsigned row, half, lane, group, part;
};
INGOT_ON_DEVICE QuadPlace quad_place(unsigned row, unsigned at) {
  const unsigned in_tile = row % static_cast<unsigned>(plane_rows);
  return {in_tile, in_tile / 8, in_tile % 8 * 4 + at % 16 / 4, at % static_cast<unsigned>(plane_depth) / 32,
          at % 32 / 16};
}

INGOT_ON_DEVICE std::uint32_t plane_word(const std::uint8_t (&bytes)[4]) {
  return load_constant(reinterpret_cast<const std::uint32_t*>(bytes));
}
INGOT_ON_DEVICE std::uint32_t low_of_planes(const NibblePlane& plane, const QuadPlace& at) {
  return plane_word(plane.units[at.group / 4][at.half][at.lane].words[at.group % 4]) >> 4 * at.part & 0x0f0f0f0fu;
}
INGOT_ON_DEVICE std::uint32_t fifth_of_planes(const FifthBitPlane& plane, const QuadPlace& at) {
  const std::uint32_t word = plane_word(plane.words[at.lane][at.half][at.group / 4]);
  return (word >> (at.group % 4 * 2 + at.part) & 0x01010101u) << 4;
}

INGOT_ON_DEVICE std::uint32_t codes_at(const PlaneTile<BlockQ8_0>& tile, const QuadPlace& at) {
  return plane_word(tile.codes[at.group / 2][at.half][at.lane].words[at.group % 2 * 2 + at.part]);
}
INGOT_ON_DEVICE std::uint32_t codes_at(const PlaneTile<BlockQ4_0>& tile, const QuadPlace& at) {
  return less_in_bytes(low_of_planes(tile.low, at), 8);
}
INGOT_ON_DEVICE std::uint32_t codes_at(const PlaneTile<BlockQ5_0>& tile, const QuadPlace& at) {
  return less_in_bytes(low_of_planes(tile.low, at) | fifth_of_planes(tile.high, at), 16);
}
INGOT_ON_DEVICE std::uint32_t codes_at(const PlaneTile<BlockQ4_K>& tile, const QuadPlace& at) {
  return low_of_planes(tile.low, at);
}
INGOT_ON_DEVICE std::uint32_t codes_at(const PlaneTile<BlockQ5_K>& tile, const QuadPlace& at) {
  return low_of_planes(tile.low, at) | fifth_of_planes(tile.high, at);
}
INGOT_ON_DEVICE std::uint32_t codes_at(const PlaneTile<BlockQ6_K>& tile, const QuadPlace& at) {
  const std::uint32_t high = plane_word(tile.high[at.half][at.lane].words[at.group / 2]);
  return less_in_bytes(low_of_planes(tile.low, at) | (high >> (at.group % 2 * 4 + at.part * 2) & 0x03030303u) << 4, 32);
}

template <class Block>
INGOT_ON_DEVICE QuadScale scale_at(const PlaneTile<Block>& tile, const QuadPlace& at) {
  if constexpr (Block::elements == 32) {
    return {load_half(tile.scales[at.row][at.group]), 0};
  } else if constexpr (requires { tile.heads; }) {
    // A head is the beginning of a block: both formats begin alike.
    const auto& head = reinterpret_cast<const BlockQ4_K&>(tile.heads[at.row]);
    const GroupIntegers integers = packed_pair(head.scales, at.group);
    return {load_half(head.scale) * static_cast<float>(integers.scale),
            load_half(head.minimum) * static_cast<float>(integers.minimum)};
  } else {
    const std::int32_t scale = load_constant(&tile.group_scales[at.row][2 * at.group + at.part]);
    return {load_half(tile.scales[at.row]) * static_cast<float>(scale), 0};
  }
}

// Elements `at` to `at` + 3 of a row of a matrix in planes, whose rows have so many spans of 256.
template <class Block>
INGOT_ON_DEVICE void decode_plane_quad(const std::byte* matrix, unsigned spans, unsigned row, unsigned at,
                                       float (&values)[quad_codes]) {
  const std::uint64_t number =
      row / static_cast<unsigned>(plane_rows) * std::uint64_t{spans} + at / static_cast<unsigned>(plane_depth);
  const auto& tile = reinterpret_cast<const PlaneTile<Block>*>(matrix)[number];
  const QuadPlace place = quad_place(row, at);
  const std::uint32_t codes = codes_at(tile, place);
  const QuadScale scale = scale_at(tile, place);
  INGOT_UNROLL
  for (unsigned i = 0; i < quad_codes; ++i) values[i] = scale.scale * code_of_quad(codes, i) - scale.minimum;
}

// Calls function.template operator()<Block>() with the struct of a format that has planes.
template <class Function>
INGOT_ON_DEVICE void with_plane_block(DType dtype, Function&& function) {
  switch (dtype) {
    case DType::q4_0: return function.template operator()<BlockQ4_0>();
    case DType::q5_0: return function.template operator()<BlockQ5_0>();
    case DType::q8_0: return function.template operator()<BlockQ8_0>();
    case DType::q4_k: return function.template operator()<BlockQ4_K>();
    case DType::q5_k: return function.template operator()<BlockQ5_K>();
    default: return function.template operator()<BlockQ6_K>();
  }
}

}  // namespace ingot::device
