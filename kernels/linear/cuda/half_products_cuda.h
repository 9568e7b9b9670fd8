// What a launch of products with weights of 16 bits is told.
#pragma once

#include "kernels/linear/cuda/streamed_cuda.h"

namespace ingot {

struct HalfProducts {
  StreamedParts joined;  // many tokens meet the first part alone; rows begin at multiples of 16 bytes, but anywhere_*
  // x, as round_rows writes it; null where there is one token.
  const std::uint16_t* x;
  std::uint32_t x_stride;    // a multiple of half_chunk
  const float* from_halves;  // null: rows have no scales
  // One token, which blocks round themselves.
  const float* floats;
  bool is_aligned;  // whole groups of 16 bytes
};

// Matrix instructions cut off what they add: they sum so much of the depth from zero, and what they give is added as
// floats are.
inline constexpr std::uint32_t half_chunk = 64;

// Tiles of 16 rows by half_chunk, 2 KiB, of a warp that are under way.
inline constexpr std::uint32_t half_stages = 4;
inline constexpr std::uint32_t half_tile_bytes = warp_columns * half_chunk * 2;
// Where tokens are many: chunks of weights and of 64 tokens that are under way or multiplied.
inline constexpr std::uint32_t half_tiled_stages = 3;
inline constexpr std::uint32_t half_x_bytes = 64 * half_chunk * 2;

}  // namespace ingot
