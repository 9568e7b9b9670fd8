#include "kernels/layout/movement.h"

#include <cstdlib>

namespace ingot {

Movement::Movement(const ConstAnyView& source, const AnyView& target)
    : from(source.data()),
      to(target.data()),
      from_bytes(is_block_format(source.dtype()) ? 1 : block_bytes(source.dtype())),
      to_bytes(is_block_format(target.dtype()) ? 1 : block_bytes(target.dtype())) {
  // Strides of a tensor without elements may be anything; they are not looked at.
  for (std::int64_t size : source.shape()) empty = empty || size == 0;
  if (empty) return;
  struct Axis {
    std::int64_t size, from_stride, to_stride;
  };
  std::array<Axis, max_rank> axes;
  int count = 0;
  for (int axis = 0; axis < source.rank(); ++axis) {
    const bool is_block_row = is_block_format(source.dtype()) && axis == source.rank() - 1;
    const Axis one = is_block_row ? Axis{row_bytes(source.dtype(), source.size(axis)), 1, 1}
                                  : Axis{source.size(axis), source.byte_stride(axis), target.byte_stride(axis)};
    if (one.size == 1) continue;
    // Sorted as they come, by falling step of the target; equals keep their order.
    int place = count++;
    for (; place > 0; --place) {
      const Axis& before = axes[static_cast<std::size_t>(place - 1)];
      if (std::abs(before.to_stride) >= std::abs(one.to_stride)) break;
      axes[static_cast<std::size_t>(place)] = before;
    }
    axes[static_cast<std::size_t>(place)] = one;
  }
  for (int axis = 0; axis < count; ++axis) {
    const Axis& one = axes[static_cast<std::size_t>(axis)];
    const auto outer = static_cast<std::size_t>(rank - 1);
    if (rank > 0 && from_strides[outer] == one.from_stride * one.size &&
        to_strides[outer] == one.to_stride * one.size) {
      sizes[outer] *= one.size;
      from_strides[outer] = one.from_stride;
      to_strides[outer] = one.to_stride;
      continue;
    }
    const auto place = static_cast<std::size_t>(rank++);
    sizes[place] = one.size;
    from_strides[place] = one.from_stride;
    to_strides[place] = one.to_stride;
  }
  if (rank > 0) return;
  rank = 1;  // a single element is a stretch of one
  sizes[0] = 1;
  from_strides[0] = from_bytes;
  to_strides[0] = to_bytes;
}

int Movement::transposed_axis() const {
  if (from_bytes != to_bytes || to_step() != to_bytes) return -1;
  for (int axis = 0; axis < last(); ++axis) {
    if (from_strides[static_cast<std::size_t>(axis)] == from_bytes) return axis;
  }
  return -1;
}

}  // namespace ingot
