// What a launch of a product with weights in a block format is told.
#pragma once

#include "kernels/linear/cuda/prepared_x_cuda.h"
#include "kernels/linear/cuda/product_cuda.h"
#include "tensor/dtype.h"

namespace ingot {

struct BlockProducts {
  DeviceProduct product;
  DType type;
  std::uint32_t block_bytes;
  bool is_interleaved;  // eight rows of blocks together (tensor/interleaved.h)
  // x, as code_rows writes it.
  const std::uint32_t* codes;
  const float* scales;
  const std::int32_t* sums;
};

}  // namespace ingot
