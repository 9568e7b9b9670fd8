// What launches of the layout family's moving device functions are told. Strides are in bytes; the source comes first.
#pragma once

#include <cstddef>

#include "kernels/device/joint_walk.h"

namespace ingot {

// Units of 1, 2, 4, 8 or 16 bytes, as many as move in one piece: a function for each.
struct DeviceMovement {
  JointWalk<2> walk;
  const std::byte* from;
  std::byte* to;
  WalkItems items;  // units
};

// Elements that are neighbours along one axis in the source, and along another in the target.
struct DeviceTransposition {
  JointWalk<2> others;  // rows are the pairs of matrices; their length means nothing here
  const std::byte* from;
  std::byte* to;
  std::uint32_t columns;         // along the axis that is packed in the target
  std::uint32_t lines;           // along the one that is packed in the source
  std::int64_t from_column;      // bytes to the next column in the source
  std::int64_t to_line;          // and to the next line in the target
  std::uint32_t tiles_a_matrix;  // blocks that share one pair of matrices
  std::uint32_t tiles_a_line;    // of them, those side by side along the columns
};

inline constexpr std::uint32_t transposed_tile = 32;  // lines and columns of it

}  // namespace ingot
