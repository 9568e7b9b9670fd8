// JointWalk<N>: N tensors of one shape, walked together as rows. A part of a launch's parameters: joint_walk() of
// kernels/device/joint_windows.h makes it. Broadcasting is a stride of 0.
#pragma once

#include <cstdint>

#include "kernels/device/marks.h"

namespace ingot {

// Axes of size one are dropped and axes that step evenly in all tensors are folded: contiguous tensors are one row. The
// last axis that is left is the row. Sizes are below 2^31; strides are in whatever unit the maker counted in.
template <unsigned Tensors>
struct JointWalk {
  static constexpr unsigned most_axes = 5;

  std::uint32_t rows = 0;
  std::uint32_t length = 0;
  std::uint32_t axes = 0;  // of the rows
  std::uint32_t sizes[most_axes] = {};
  std::int64_t steps[Tensors] = {};  // between neighbours within a row
  std::int64_t strides[most_axes][Tensors] = {};

  // Where a row begins in each tensor.
  INGOT_ON_DEVICE void find_row(std::uint32_t row, std::int64_t (&offsets)[Tensors]) const {
    for (unsigned tensor = 0; tensor < Tensors; ++tensor) offsets[tensor] = 0;
    for (std::uint32_t axis = axes; axis > 1;) {
      --axis;
      const std::uint32_t index = row % sizes[axis];
      row /= sizes[axis];
      for (unsigned tensor = 0; tensor < Tensors; ++tensor) offsets[tensor] += index * strides[axis][tensor];
    }
    for (unsigned tensor = 0; tensor < Tensors; ++tensor) offsets[tensor] += row * strides[0][tensor];
  }
};

// A joint walk cut into items: elements, or groups of them. Blocks take them in order, `turns` of them a thread.
struct WalkItems {
  std::uint32_t per_row = 0;
  std::uint32_t turns = 0;
};

}  // namespace ingot
