// What a launch of a product with stored weights is told, whatever their type.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ingot {

struct DeviceProduct {
  const std::byte* weights;     // row 0, of expert 0
  std::int64_t row_bytes;       // from row to row of weights
  std::int64_t expert_bytes;    // from expert to expert
  const std::int32_t* offsets;  // expert g has rows offsets[g] to offsets[g + 1] of x; null: all rows meet one matrix
  std::int64_t offsets_stride;
  std::uint32_t experts;
  std::uint32_t rows;     // of x and y
  std::uint32_t columns;  // of y: rows of a matrix of weights
  std::uint32_t depth;
  const float* bias;  // null: none
  float* y;
  std::int64_t y_stride;  // from row to row, in elements
};

// A warp multiplies so many rows of weights: what one matrix instruction takes.
inline constexpr std::uint32_t warp_columns = 16;
// And so many rows of x at a time, of which it takes one such tile where there are few, and several where there are
// many.
inline constexpr std::uint32_t tile_tokens = 8;
inline constexpr std::uint32_t many_tiles = 8;
// Sums run over so much of the depth from zero, and then into the total: the order is the same whether one warp goes
// through the whole depth or several share it.
inline constexpr std::uint32_t segment_depth = 512;

}  // namespace ingot
