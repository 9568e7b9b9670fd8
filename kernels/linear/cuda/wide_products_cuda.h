// What a launch of products of many tokens with weights of 16 bits is told, and the shapes of its blocks.
#pragma once

#include "kernels/linear/cuda/half_products_cuda.h"

namespace ingot {

struct WideProducts {
  // `ends` are in tiles of a block's rows; of a gate and what it gates a block has half of its rows each.
  StreamedParts joined;
  std::uint32_t row_tiles;   // up to the end of the last part
  const std::uint16_t* x;    // as round_rows writes it
  std::uint32_t x_stride;    // a multiple of half_chunk
  const float* from_halves;  // null: rows have no scales
  bool is_grouped;           // rows of every y begin at multiples of 16 bytes
};

// A block's rows of weights, its tokens, and what it takes.
inline constexpr std::uint32_t wide_rows = 128;
inline constexpr std::uint32_t wide_tokens = 128;
inline constexpr std::uint32_t wide_threads = 256;
inline constexpr std::uint32_t wide_shared_bytes = 3 * (wide_rows + wide_tokens) * half_chunk * 2;

// So many tiles of tokens in turn meet the same rows of weights, before the next rows come: what blocks that run
// together read fits the second-level cache, and weights are read from memory once for all of these.
inline constexpr std::uint32_t wide_group = 16;

}  // namespace ingot
