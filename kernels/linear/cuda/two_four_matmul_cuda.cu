// A warp for a row of weights and eight of x: lanes take fours in turn, which depends on the depth alone.
#include "kernels/linear/cuda/two_four_matmul_cuda.h"

#include "kernels/device/numbers.h"
#include "kernels/device/warp.h"

namespace ingot::device {

INGOT_DEVICE_FUNCTION(multiply_two_four, TwoFourProducts, 256) {
  const unsigned column = block_index() * warp_count() + warp_index();
  if (column >= parameters.columns) return;
  const unsigned first = block_index_y() * two_four_tokens;
  const float* const values = parameters.values + column * parameters.values_stride;
  const std::uint8_t* const positions = parameters.positions + column * parameters.positions_stride;
  float sums[two_four_tokens] = {};
  for (unsigned four = lane_index(); four < parameters.fours; four += warp_size) {
    const unsigned packed = positions[four];
    const float kept[2] = {values[2 * four], values[2 * four + 1]};
    INGOT_UNROLL
    for (unsigned i = 0; i < two_four_tokens; ++i) {
      if (first + i >= parameters.rows) continue;
      const float* const x = parameters.x + (first + i) * parameters.x_stride + 4 * four;
      sums[i] = fused_multiply_add(kept[0], x[packed & 3u], sums[i]);
      sums[i] = fused_multiply_add(kept[1], x[packed >> 2 & 3u], sums[i]);
    }
  }
  INGOT_UNROLL
  for (unsigned i = 0; i < two_four_tokens; ++i) {
    float sum = warp_sum(sums[i]);
    if (first + i >= parameters.rows || lane_index() != 0) continue;
    if (parameters.bias != nullptr) sum = sum + parameters.bias[column];
    parameters.y[(first + i) * parameters.y_stride + column] = sum;
  }
}

}  // namespace ingot::device
