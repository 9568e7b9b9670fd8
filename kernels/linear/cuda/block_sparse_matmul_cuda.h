// What a launch of linear.block_sparse_matmul is told.
#pragma once

#include <cstdint>

namespace ingot {

struct BlockSparseProducts {
  const float* x;
  std::int64_t x_stride;  // from row to row
  const float* values;    // blocks after each other, row by row
  const std::int32_t* row_offsets;
  std::int64_t row_offsets_stride;
  const std::int32_t* block_columns;
  std::int64_t block_columns_stride;
  const float* bias;  // null: none
  float* y;
  std::int64_t y_stride;
  std::uint32_t rows;
  std::uint32_t columns;
  std::uint32_t height;  // of a block
  std::uint32_t width;
};

}  // namespace ingot
