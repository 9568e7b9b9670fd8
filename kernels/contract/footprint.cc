#include "kernels/contract/footprint.h"

namespace ingot {

Shape block_counts(const ConstAnyView& view) {
  Shape shape = view.shape();
  if (view.rank() > 0) shape[view.rank() - 1] /= block_elements(view.dtype());
  return shape;
}

Footprint footprint_of(const ConstAnyView& view) {
  if (view.data() == nullptr || view.empty()) return {};
  const Shape shape = block_counts(view);
  std::int64_t begin = 0;
  std::int64_t end = block_bytes(view.dtype());
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const std::int64_t reach = (shape[axis] - 1) * view.byte_stride(axis);
    (reach < 0 ? begin : end) += reach;
  }
  const auto base = reinterpret_cast<std::uintptr_t>(view.data());
  return {base + static_cast<std::uintptr_t>(begin), base + static_cast<std::uintptr_t>(end)};
}

}  // namespace ingot
