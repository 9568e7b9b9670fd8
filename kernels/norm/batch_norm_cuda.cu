#include "kernels/norm/batch_norm_cuda.h"

#include "kernels/device/groups.h"

namespace ingot::device {

INGOT_DEVICE_FUNCTION(batch_norm_rows, BatchNormRows, 256) {
  parameters.groups.visit(block_index(), thread_index(), [&](std::uint32_t row, std::uint32_t group) {
    const std::uint32_t channel = row % parameters.channels;
    const float rstd = 1 / square_root(parameters.variance[channel] + parameters.epsilon);
    const float scale = parameters.gamma[channel] * rstd;
    const float mean = parameters.mean[channel];
    const float shift = parameters.beta[channel];
    const std::uint64_t begin = std::uint64_t{row} * parameters.length;
    float values[group_floats];
    load_group(values, parameters.x + begin, group_floats * group, parameters.length, parameters.is_aligned);
    INGOT_UNROLL
    for (unsigned i = 0; i < group_floats; ++i) values[i] = fused_multiply_add(values[i] - mean, scale, shift);
    store_group(values, parameters.y + begin, group_floats * group, parameters.length, parameters.is_aligned);
  });
}

}  // namespace ingot::device
