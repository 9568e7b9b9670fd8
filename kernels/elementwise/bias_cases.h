// Shapes: odd widths, several blocks of summed columns, ranks 1 to 6, no rows; in place.
#pragma once

#include "kernels/elementwise/bias.h"

namespace ingot {

template <class Op, class OpArguments>
void NamedAddition<Op, OpArguments>::cases(CaseList<Op>& list) {
  auto separate = [](Shape shape) {
    return [shape](CaseBuilder& builder) {
      Arguments a;
      if constexpr (requires { a.x; }) {
        a.x = builder.filled(shape);
        if constexpr (requires { a.bias; })
          a.bias = builder.filled({shape.last()});
        else
          a.residual = builder.filled(shape);
        a.y = builder.blank(shape);
      } else {
        a.dy = builder.filled(shape);
        a.dx = builder.blank(shape);
        if constexpr (requires { a.dbias; })
          a.dbias = builder.blank({shape.last()});
        else
          a.dresidual = builder.blank(shape);
      }
      return a;
    };
  };
  for (std::int64_t width : {37, 1, 3, 16, 67}) {
    list.parity("rows 3 width " + std::to_string(width), separate({3, width}));
  }
  list.parity("several column blocks", separate({7, 1100}));
  list.parity("one row of rank 1", separate({65}));
  list.parity("rank 6", separate({2, 1, 3, 2, 1, 5}));
  list.parity("many rows", separate({300, 17}));
  list.parity("no rows", separate({0, 8}));
  list.parity("in place", [separate](CaseBuilder& builder) {
    Arguments a = separate({5, 37})(builder);
    const View<float> written = builder.filled({5, 37});
    if constexpr (requires { a.x; }) {
      a.x = written;
      a.y = written;
    } else {
      a.dy = written;
      a.dx = written;
    }
    return a;
  });
  if constexpr (!Backward(Op::backward).operations[0].empty()) list.gradient("3 x 5", separate({3, 5}));
  list.benchmark("512 x 4096", separate({512, 4096}));
}

}  // namespace ingot
