// What a launch of products with weights in planes is told (tensor/planes.h).
#pragma once

#include "kernels/linear/cuda/streamed_cuda.h"

namespace ingot {

struct PlaneProducts {
  StreamedParts joined;
  // x: codes and their scales, rows of either at multiples of 16 bytes where it has several units.
  const std::int8_t* codes;
  const float* scales;
  std::int64_t codes_stride;
  std::int64_t scales_stride;
  bool is_laid;  // codes as lanes take them (prepared_x_cuda.h), which few tokens are where they are several
  // Of one token that blocks prepare themselves: its floats, which may lie in groups of 16 bytes; null where its codes
  // are given, and lie anywhere.
  const float* x;
  bool is_aligned;
};

// Tiles of a warp that are under way: with four warps a block, five blocks of an SM have 131 to 170 KiB on their way,
// and a memory that gives 4.2 TB/s after 700 ns needs 22 of each SM. A third stage costs a block.
inline constexpr unsigned plane_stages = 2;
inline constexpr unsigned plane_stage_bytes_32 = 4352;   // a tile of q8_0
inline constexpr unsigned plane_stage_bytes_256 = 3360;  // of q6_k

// Where tokens are many: spans of weights and of 64 tokens' codes that are under way or multiplied.
inline constexpr unsigned plane_tiled_stages = 2;
inline constexpr unsigned plane_x_bytes = 64 * 256;

}  // namespace ingot
