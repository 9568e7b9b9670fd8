// Shapes: odd lengths around every vector width, ranks 1 to 6, nothing at all, long rows that are cut into pieces; in
// place.
#pragma once

#include "kernels/elementwise/unary.h"

namespace ingot {

template <class Op, class OpArguments>
void UnaryContract<Op, OpArguments>::cases(CaseList<Op>& list) {
  auto separate = [](Shape shape) {
    return [shape](CaseBuilder& builder) {
      // A finite difference of the square root must not reach below zero.
      const bool positive = std::is_same_v<Op, SquareRoot> && builder.regime() == Regime::gradient;
      Arguments a;
      if constexpr (requires { a.x; }) a.x = builder.filled(shape, positive ? Fill::uniform(0.5, 2) : Fill::values());
      if constexpr (requires { a.factor; }) a.factor = -1.7f;
      if constexpr (requires { a.low; }) a.low = -0.9f;
      if constexpr (requires { a.high; }) a.high = 1;
      if constexpr (requires { a.dy; }) {
        if constexpr (requires { a.y; }) a.y = builder.filled(shape);
        a.dy = builder.filled(shape, Fill::uniform(-1, 1));
        a.dx = builder.blank(shape);
      } else {
        a.y = builder.blank(shape);
      }
      return a;
    };
  };
  for (std::int64_t width : {37, 1, 3, 16, 67, 129}) {
    list.parity("rows 3 width " + std::to_string(width), separate({3, width}));
  }
  list.parity("one row of rank 1", separate({65}));
  list.parity("rank 6", separate({2, 1, 3, 2, 1, 5}));
  list.parity("last axis of 1", separate({9, 1}));
  list.parity("pieces of a long row", separate({40000}));
  list.parity("no rows", separate({0, 8}));
  list.parity("in place", [separate](CaseBuilder& builder) {
    Arguments a = separate({5, 37})(builder);
    const View<float> written = builder.filled({5, 37});
    if constexpr (requires { a.dy; }) {
      a.dy = written;
      a.dx = written;
    } else {
      a.x = written;
      a.y = written;
    }
    return a;
  });
  if constexpr (!Backward(Op::backward).operations[0].empty()) list.gradient("2 x 5", separate({2, 5}));
  list.benchmark("512 x 4096", separate({512, 4096}));
}

}  // namespace ingot
