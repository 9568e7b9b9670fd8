#include "kernels/linear/cuda/fused_curves_cuda.h"

#include "kernels/linear/cuda/curves.h"

namespace ingot::device {

INGOT_DEVICE_FUNCTION(apply_fused_curve, FusedCurves, 256) {
  const unsigned column = block_index() * thread_count() + thread_index();
  if (column >= parameters.columns) return;
  for (unsigned row = block_index_y(); row < parameters.rows; row += block_count_y()) {
    float& y = parameters.y[row * parameters.y_stride + column];
    const float value = curve_of(parameters.curve, y);
    y = parameters.up == nullptr ? value : value * parameters.up[row * std::uint64_t{parameters.columns} + column];
  }
}

}  // namespace ingot::device
