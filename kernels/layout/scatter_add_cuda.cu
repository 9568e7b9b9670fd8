// Each row of the table looks for its own index in the list, and adds what it finds in the order of the list, in
// double: the reference's sum, without a float that two threads add to.
#include "kernels/layout/scatter_add_cuda.h"

#include "kernels/device/warp.h"

namespace ingot::device {
namespace {

constexpr unsigned scatter_threads = 256;
constexpr unsigned columns_a_thread = scattered_columns / scatter_threads;

}  // namespace

INGOT_DEVICE_FUNCTION(scatter_add_rows, ScatteredRows, scatter_threads) {
  INGOT_SHARED unsigned hits[scatter_threads / warp_size];
  const unsigned row = block_index() / parameters.blocks_a_row;
  const unsigned first = block_index() % parameters.blocks_a_row * scattered_columns + thread_index();
  const unsigned width = parameters.width;
  double sums[columns_a_thread];
  INGOT_UNROLL
  for (unsigned i = 0; i < columns_a_thread; ++i) {
    const unsigned column = first + i * scatter_threads;
    const bool has_base = parameters.base != nullptr && column < width;
    sums[i] = has_base ? parameters.base[row * parameters.base_stride + column] : 0;
  }
  for (unsigned begin = 0; begin < parameters.x.count; begin += scatter_threads) {
    const unsigned own = begin + thread_index();
    const unsigned votes = ballot(own < parameters.x.count && parameters.indices[own] == static_cast<int>(row));
    if (lane_index() == 0) hits[warp_index()] = votes;
    synchronize_block();
    for (unsigned warp = 0; warp < scatter_threads / warp_size; ++warp) {
      for (unsigned left = hits[warp]; left != 0; left &= left - 1) {
        const unsigned lane = count_ones((left & (0 - left)) - 1);  // of the lowest bit
        const float* const added = parameters.x.row(begin + warp * warp_size + lane);
        INGOT_UNROLL
        for (unsigned i = 0; i < columns_a_thread; ++i) {
          const unsigned column = first + i * scatter_threads;
          if (column < width) sums[i] += added[column];
        }
      }
    }
    synchronize_block();
  }
  INGOT_UNROLL
  for (unsigned i = 0; i < columns_a_thread; ++i) {
    const unsigned column = first + i * scatter_threads;
    if (column < width) parameters.y[row * parameters.y_stride + column] = static_cast<float>(sums[i]);
  }
}

}  // namespace ingot::device
