#include "kernels/position/learned_cuda.h"

#include "kernels/device/groups.h"

namespace ingot::device {

INGOT_DEVICE_FUNCTION(learned_rows, LearnedRows, 256) {
  parameters.groups.visit(block_index(), thread_index(), [&](std::uint32_t row, std::uint32_t group) {
    const std::uint32_t at = group_floats * group;
    const std::uint32_t length = parameters.x.length;
    const auto position = static_cast<std::uint32_t>(parameters.positions(row));
    float values[group_floats];
    float added[group_floats];
    load_group(values, parameters.x.row(row), at, length, parameters.is_aligned);
    load_group(added, parameters.table.row(position), at, length, parameters.is_aligned);
    INGOT_UNROLL
    for (unsigned i = 0; i < group_floats; ++i) values[i] = values[i] + added[i];
    store_group(values, parameters.y.row(row), at, length, parameters.is_aligned);
  });
}

INGOT_DEVICE_FUNCTION(alibi_slope_list, AlibiSlopeList, 256) {
  const std::uint32_t head = block_index() * thread_count() + thread_index();
  if (head >= parameters.slopes.sizes[0]) return;
  const double step = head < parameters.power ? static_cast<double>(head + 1)
                                              : static_cast<double>(2 * (head - parameters.power) + 1) / 2;
  const double power = static_cast<double>(parameters.power);
  parameters.slopes(head) =
      static_cast<float>(exponential_of_2(-static_cast<double>(parameters.max_bias) * step / power));
}

}  // namespace ingot::device
