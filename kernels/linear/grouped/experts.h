// One expert's share of a grouped product, as the arguments of the plain product it is. Reference and vector variants
// of the grouped operations are loops over these.
#pragma once

#include "kernels/linear/grouped/matmul_grouped.h"
#include "kernels/linear/matmul/matmul.h"
#include "kernels/linear/matmul/matmul_backward.h"

namespace ingot {

template <class Element>
View<Element> rows_from(const View<Element>& view, std::int64_t begin, std::int64_t end) {
  return View<Element>(view.data() + begin * view.stride(0), {end - begin, view.size(1)}, view.strides(), view.place());
}

template <class Element>
View<Element> rows_of_expert(const View<Element>& view, const View<const std::int32_t>& offsets, std::int64_t expert) {
  return rows_from(view, offsets(expert), offsets(expert + 1));
}

inline ConstAnyView weights_of_expert(const ConstAnyView& weights, std::int64_t expert) {
  return ConstAnyView(weights.data() + expert * weights.byte_stride(0), weights.dtype(),
                      {weights.size(1), weights.size(2)}, {weights.byte_stride(1), weights.byte_stride(2)},
                      weights.place());
}

inline Matmul::Arguments expert_of(const MatmulGrouped::Arguments& a, std::int64_t expert) {
  const std::int64_t share = a.x.size(0) / a.weights.size(0);
  const bool has_offsets = is_present(a.offsets);
  const std::int64_t begin = has_offsets ? a.offsets(expert) : expert * share;
  const std::int64_t end = has_offsets ? a.offsets(expert + 1) : begin + share;
  Matmul::Arguments product;
  product.x = rows_from(a.x, begin, end);
  product.layout = a.layout;
  product.weights = weights_of_expert(a.weights, expert);
  product.y = rows_from(a.y, begin, end);
  return product;
}

inline MatmulBackwardInput::Arguments expert_of(const MatmulGroupedBackwardInput::Arguments& a, std::int64_t expert) {
  return {.weights = weights_of_expert(a.weights, expert),
          .layout = a.layout,
          .dy = rows_of_expert(a.dy, a.offsets, expert),
          .dx = rows_of_expert(a.dx, a.offsets, expert)};
}

inline MatmulBackwardWeight::Arguments expert_of(const MatmulGroupedBackwardWeight::Arguments& a, std::int64_t expert) {
  return {.x = rows_of_expert(a.x, a.offsets, expert),
          .dy = rows_of_expert(a.dy, a.offsets, expert),
          .dweights = a.dweights[expert]};
}

}  // namespace ingot
