// What a launch of quantization.vec_dot's device function is told.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/dtype.h"

namespace ingot {

struct VecDotRows {
  const std::byte* weights;
  std::int64_t row_bytes;  // between rows of the weights
  const std::int8_t* codes;
  const float* scales;
  const std::int32_t* sums;  // of 16 codes each
  float* y;
  std::uint32_t rows;
  std::uint32_t length;
  DType dtype;
};

}  // namespace ingot
