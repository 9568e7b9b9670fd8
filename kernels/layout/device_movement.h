// The host's side of movements on a device.
#pragma once

#include "kernels/device/joint_walk.h"
#include "kernels/layout/movement.h"

namespace ingot {

inline constexpr std::int64_t longest_piece = std::int64_t{1} << 30;  // of a single row, for one launch

// Device functions count rows and what is in them in 32 bits; a single row comes in pieces, however long.
inline bool fits_device(const Movement& movement) {
  constexpr std::int64_t most = std::int64_t{1} << 31;
  if (movement.empty || movement.rank == 1) return true;
  std::int64_t rows = 1;
  for (int axis = 0; axis < movement.last(); ++axis) {
    const std::int64_t size = movement.sizes[static_cast<std::size_t>(axis)];
    if (size >= most || rows * size >= most) return false;
    rows *= size;
  }
  return movement.length() < most;
}

// The rows of a movement, without those along `left_out` (-1: all); strides in bytes. Precondition: it fits.
inline JointWalk<2> walk_of_rows(const Movement& movement, int left_out) {
  JointWalk<2> walk;
  walk.rows = 1;
  for (int axis = 0; axis < movement.last(); ++axis) {
    if (axis == left_out) continue;
    const auto which = static_cast<std::size_t>(axis);
    walk.sizes[walk.axes] = static_cast<std::uint32_t>(movement.sizes[which]);
    walk.rows *= walk.sizes[walk.axes];
    walk.strides[walk.axes][0] = movement.from_strides[which];
    walk.strides[walk.axes++][1] = movement.to_strides[which];
  }
  return walk;
}

// Enqueues what a movement on the host does.
void launch_movement(const ConstAnyView& source, const AnyView& target, Context& context);

}  // namespace ingot
