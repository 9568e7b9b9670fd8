// Shapes that all update rules are proved on: a single element, lengths around every vector length, rank above 2, rows
// and flat tensors long enough for several segments, nothing at all.
#pragma once

#include <cmath>
#include <string>

#include "kernels/contract/case_list.h"
#include "tensor/rows.h"

namespace ingot {

inline const std::initializer_list<Shape> update_shapes = {{1},          {3},    {8},    {33},       {67},   {3, 129},
                                                           {2, 3, 2, 9}, {0, 8}, {4, 0}, {130, 100}, {9001}, {2, 4100}};
inline const std::initializer_list<Shape> update_benchmark_shapes = {{16384}, {16 << 20}};

// A second moment: what the regime says, without its sign.
inline View<float> filled_not_negative(CaseBuilder& builder, const Shape& shape) {
  const View<float> view = builder.filled(shape);
  const Rows rows(view);
  for (std::int64_t row = 0; !view.empty() && row < rows.count(); ++row) {
    for (std::int64_t i = 0; i < rows.length(); ++i) rows[row][i] = std::fabs(rows[row][i]);
  }
  return view;
}

// build(builder, shape) makes the arguments of one shape.
template <class Op, class Build>
void add_update_cases(CaseList<Op>& list, const std::string& prefix, Build build) {
  for (const Shape& shape : update_shapes) {
    list.parity(prefix + std::string(text_of(shape).view()),
                [build, shape](CaseBuilder& builder) { return build(builder, shape); });
  }
}

template <class Op, class Build>
void add_update_benchmarks(CaseList<Op>& list, Build build) {
  for (const Shape& shape : update_benchmark_shapes) {
    list.benchmark(std::string(text_of(shape).view()),
                   [build, shape](CaseBuilder& builder) { return build(builder, shape); });
  }
}

}  // namespace ingot
