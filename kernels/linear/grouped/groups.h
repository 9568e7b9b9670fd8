// One group of a grouped product, as the arguments of the plain product it is. Reference and vector variants of the
// grouped operations are loops over these.
#pragma once

#include "kernels/linear/grouped/matmul_grouped.h"
#include "kernels/linear/matmul/matmul.h"
#include "kernels/linear/matmul/matmul_backward.h"

namespace ingot {

template <class Element>
View<Element> rows_of_group(const View<Element>& view, const View<const std::int32_t>& offsets, std::int64_t group) {
  const std::int64_t begin = offsets(group);
  return View<Element>(view.data() + begin * view.stride(0), {offsets(group + 1) - begin, view.size(1)}, view.strides(),
                       view.place());
}

inline ConstAnyView weights_of_group(const ConstAnyView& weights, std::int64_t group) {
  return ConstAnyView(weights.data() + group * weights.byte_stride(0), weights.dtype(),
                      {weights.size(1), weights.size(2)}, {weights.byte_stride(1), weights.byte_stride(2)},
                      weights.place());
}

inline Matmul::Arguments group_of(const MatmulGrouped::Arguments& a, std::int64_t group) {
  Matmul::Arguments product;
  product.x = rows_of_group(a.x, a.offsets, group);
  product.layout = a.layout;
  product.weights = weights_of_group(a.weights, group);
  product.y = rows_of_group(a.y, a.offsets, group);
  return product;
}

inline MatmulBackwardInput::Arguments group_of(const MatmulGroupedBackwardInput::Arguments& a, std::int64_t group) {
  return {.weights = weights_of_group(a.weights, group),
          .layout = a.layout,
          .dy = rows_of_group(a.dy, a.offsets, group),
          .dx = rows_of_group(a.dx, a.offsets, group)};
}

inline MatmulBackwardWeight::Arguments group_of(const MatmulGroupedBackwardWeight::Arguments& a, std::int64_t group) {
  return {.x = rows_of_group(a.x, a.offsets, group),
          .dy = rows_of_group(a.dy, a.offsets, group),
          .dweights = a.dweights[group]};
}

}  // namespace ingot
