#include "kernels/elementwise/checks.h"

namespace ingot::elementwise {

Result<void> require_elements(std::string_view operation, std::string_view number, std::string_view field,
                              const ConstAnyView& view, const Shape& shape) {
  TRY(require_shape(operation, number, field, view, shape));
  return require_contiguous_rows(operation, number, field, view);
}

Result<void> require_any_elements(std::string_view operation, std::string_view number, std::string_view field,
                                  const ConstAnyView& view) {
  TRY(require_rank_between(operation, number, field, view, 1, max_rank));
  return require_contiguous_rows(operation, number, field, view);
}

Result<void> require_repeats_to(std::string_view operation, std::string_view number, std::string_view field,
                                const ConstAnyView& view, const Shape& shape) {
  const int missing = shape.rank() - view.rank();
  bool repeats = missing >= 0;
  for (int axis = 0; repeats && axis < view.rank(); ++axis) {
    repeats = view.size(axis) == 1 || view.size(axis) == shape[axis + missing];
  }
  if (!repeats) {
    return violated(operation, number, "expected ", field, " of a shape that repeats to ", shape, ", found ",
                    view.shape());
  }
  return require_contiguous_rows(operation, number, field, view);
}

Shape without_last_axis(const Shape& shape) {
  Shape shorter;
  for (int axis = 0; axis + 1 < shape.rank(); ++axis) shorter.push_back(shape[axis]);
  return shorter;
}

}  // namespace ingot::elementwise
