// Shapes: odd lengths around every vector width, rank 1 (whose result has rank 0) to 6, no rows, a row of several
// pieces; rows full of ties, where the first must win.
#pragma once

#include "kernels/elementwise/checks.h"
#include "kernels/elementwise/reduce.h"

namespace ingot {

template <class Op, class OpArguments>
void ReductionContract<Op, OpArguments>::cases(CaseList<Op>& list) {
  auto separate = [](Shape shape, Fill fill = Fill::values()) {
    return [shape, fill](CaseBuilder& builder) {
      const Shape rows = elementwise::without_last_axis(shape);
      Arguments a;
      if constexpr (requires { a.x; }) a.x = builder.filled(shape, fill);
      if constexpr (requires { a.y; }) a.y = builder.blank(rows, Packing::contiguous);
      if constexpr (requires { a.indices; }) {
        a.indices = builder.template blank<std::int32_t>(rows, Packing::contiguous);
      }
      if constexpr (requires { a.dx; }) {
        a.dy = builder.filled(rows, Fill::uniform(-1, 1), Packing::contiguous);
        a.dx = builder.blank(shape);
      }
      return a;
    };
  };
  for (std::int64_t width : {37, 1, 3, 16, 67, 129, 1000}) {
    list.parity("rows 3 width " + std::to_string(width), separate({3, width}));
  }
  list.parity("one row of rank 1", separate({65}));
  list.parity("rank 6", separate({2, 1, 3, 2, 1, 5}));
  list.parity("many rows", separate({600, 33}));
  list.parity("a row of several pieces", separate({2, 2 * elements_per_piece + 77}));
  list.parity("ties", separate({9, 83}, Fill::integers(-2, 2)));
  list.parity("no rows", separate({0, 8}));
  if constexpr (!Backward(Op::backward).operations[0].empty()) list.gradient("2 x 5", separate({2, 5}));
  list.benchmark("512 x 4096", separate({512, 4096}));
  list.benchmark("1 x 151936", separate({1, 151936}));
}

}  // namespace ingot
