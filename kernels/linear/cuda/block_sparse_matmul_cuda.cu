// A thread for an element of y, over the blocks that are kept, each summed from zero.
#include "kernels/linear/cuda/block_sparse_matmul_cuda.h"

#include "kernels/device/language.h"
#include "kernels/device/numbers.h"

namespace ingot::device {

INGOT_DEVICE_FUNCTION(multiply_block_sparse, BlockSparseProducts, 128) {
  const unsigned column = block_index() * thread_count() + thread_index();
  if (column >= parameters.columns) return;
  const unsigned block_row = column / parameters.height;
  const unsigned within = column % parameters.height;
  const std::int32_t begin = parameters.row_offsets[block_row * parameters.row_offsets_stride];
  const std::int32_t end = parameters.row_offsets[(block_row + 1) * parameters.row_offsets_stride];
  for (unsigned token = block_index_y(); token < parameters.rows; token += block_count_y()) {
    float total = 0;
    for (std::int32_t s = begin; s < end; ++s) {
      const std::int64_t block_column = parameters.block_columns[s * parameters.block_columns_stride];
      const float* const x = parameters.x + token * parameters.x_stride + block_column * parameters.width;
      const float* const values = parameters.values + (s * std::int64_t{parameters.height} + within) * parameters.width;
      float sum = 0;
      for (unsigned k = 0; k < parameters.width; ++k) sum = fused_multiply_add(x[k], values[k], sum);
      total = total + sum;
    }
    if (parameters.bias != nullptr) total = total + parameters.bias[column];
    parameters.y[token * parameters.y_stride + column] = total;
  }
}

}  // namespace ingot::device
