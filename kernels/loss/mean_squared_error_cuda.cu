// Squared errors: element by element, or summed in double over pieces that a second launch joins.
#include "kernels/loss/mean_squared_error_cuda.h"

#include "kernels/device/block.h"
#include "kernels/device/map.h"

namespace ingot::device {
namespace {

struct SquaredDifference {
  template <unsigned Count>
  INGOT_ON_DEVICE void operator()(const float (&x)[2][Count], float (&y)[Count]) const {
    for_each_value(x, y, [](float value, float target) { return (value - target) * (value - target); });
  }
};

}  // namespace

INGOT_DEVICE_FUNCTION(squared_errors, SquaredErrors, 256) { map_elements(parameters.map, SquaredDifference{}); }

INGOT_DEVICE_FUNCTION(squared_error_pieces, SquaredErrorPieces, 256) {
  std::int64_t offsets[2];
  parameters.walk.find_row(block_index() / parameters.pieces, offsets);
  const unsigned begin = block_index() % parameters.pieces * squared_error_piece;
  const unsigned left = parameters.walk.length - begin;
  const unsigned length = left < squared_error_piece ? left : squared_error_piece;
  const std::int64_t x_step = parameters.walk.steps[0];
  const std::int64_t target_step = parameters.walk.steps[1];
  const float* const x = parameters.x + offsets[0] + begin * x_step;
  const float* const target = parameters.target + offsets[1] + begin * target_step;
  double sum = 0;
  for (unsigned at = group_floats * thread_index(); at < length; at += group_floats * thread_count()) {
    float values[group_floats] = {};
    float targets[group_floats] = {};
    if (parameters.is_aligned && length - at >= group_floats) {
      load_group(values, x, at, length, true);
      load_group(targets, target, at, length, true);
    } else {
      for (unsigned i = 0; i < group_floats && at + i < length; ++i) {
        values[i] = x[(at + i) * x_step];
        targets[i] = target[(at + i) * target_step];
      }
    }
    INGOT_UNROLL
    for (unsigned i = 0; i < group_floats; ++i) {
      const double difference = double{values[i]} - targets[i];
      sum = fused_multiply_add(difference, difference, sum);
    }
  }
  sum = block_sum(sum);
  if (thread_index() == 0) parameters.partials[block_index()] = sum;
}

INGOT_DEVICE_FUNCTION(squared_error_total, SquaredErrorTotal, 1024) {
  double sum = 0;
  for (std::uint64_t i = thread_index(); i < parameters.count; i += thread_count()) sum += parameters.partials[i];
  sum = block_sum(sum);
  if (thread_index() == 0) parameters.loss[0] = static_cast<float>(sum / parameters.divisor);
}

}  // namespace ingot::device
