// What a launch of a product of floats is told: both factors may have any strides, and a batch of them.
#pragma once

#include "kernels/linear/cuda/product_cuda.h"

namespace ingot {

struct FloatFactor {
  const float* data;
  std::int64_t batch_stride;  // in elements, as the next two
  std::int64_t row_stride;
  std::int64_t depth_stride;
};

struct FloatProducts {
  // Weights are read as the factor says, expert after expert as a batch.
  DeviceProduct product;
  FloatFactor x;
  FloatFactor weights;
  std::int64_t y_batch_stride;
  std::uint32_t first_batch;  // of the launch
};

// Sums run over so much of the depth from zero, one fused multiply-add after another, and then into the total.
inline constexpr std::uint32_t float_chunk = 64;

// Tiles of a block: rows of weights by tokens. Few tokens have small ones, of an element a thread.
inline constexpr std::uint32_t few_float_columns = 16;
inline constexpr std::uint32_t few_float_tokens = 8;
inline constexpr std::uint32_t many_float_columns = 64;
inline constexpr std::uint32_t many_float_tokens = 64;

}  // namespace ingot
