// The gradient of a repeated tensor is a sum over its repetitions. This splits the walk: over the rows the smaller
// tensor has, and for each of them over the rows that were repeated from it.
#pragma once

#include "kernels/elementwise/axis_walk.h"

namespace ingot {

// Tensor 0 is the smaller one; all strides are those within the larger shape, 0 where the smaller tensor repeats.
template <int tensors>
struct RepeatedSum {
  AxisWalk<tensors> kept;
  AxisWalk<tensors> repeated;
  std::int64_t length = 0;  // of the larger tensor's last axis
  bool keeps_last = true;   // the smaller tensor has that axis too; otherwise it is summed

  // `sizes`: the smaller tensor's shape.
  RepeatedSum(const Shape& shape, const Shape& sizes, const std::array<Strides, tensors>& strides) {
    auto has_axis = [&](int axis) {
      const int own = axis - (shape.rank() - sizes.rank());
      return own >= 0 && sizes[own] == shape[axis];
    };
    length = shape.last();
    keeps_last = has_axis(shape.rank() - 1);
    for (int axis = shape.rank() - 2; axis >= 0; --axis) {
      Offsets<tensors> steps{};
      for (int tensor = 0; tensor < tensors; ++tensor) steps[tensor] = strides[tensor][axis];
      (has_axis(axis) ? kept : repeated).add(shape[axis], steps);
    }
  }
};

}  // namespace ingot
