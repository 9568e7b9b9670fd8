// What a launch of products with few tokens is told, whose weights stream through shared memory: up to three with one
// x, side by side in one grid, or two of them a gate and what it gates.
#pragma once

#include "kernels/linear/cuda/product_cuda.h"
#include "tensor/dtype.h"

namespace ingot {

inline constexpr std::uint32_t most_streamed_parts = 3;

// Warps of a block where tokens are many.
inline constexpr std::uint32_t tiled_warps = 8;

struct StreamedParts {
  DeviceProduct parts[most_streamed_parts];  // rows, depth and offsets are those of all
  DType types[most_streamed_parts];
  // Blocks of 16 columns up to the end of each part. Where a curve joins two parts they have the same columns, and one
  // block both.
  std::uint32_t ends[most_streamed_parts];
  std::uint32_t warps;  // that share the depth of a part
  // Of shared memory that one token takes whose blocks prepare it, a multiple of 16; or 0.
  std::uint32_t x_bytes;
  // What a block asks for, of each part, before it waits for the launch before it.
  std::uint32_t prefetched_bytes;
  bool has_curve;  // y = curve(first), times the second where there is one; only the first part's y is written
  bool is_gated;
  std::uint8_t curve;  // a FusedCurve
};

}  // namespace ingot
