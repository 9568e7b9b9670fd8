// Shapes: those of the forward operations, so that each way of repeating b is summed back; several blocks of columns.
#pragma once

#include "kernels/elementwise/binary_backward.h"
#include "kernels/elementwise/repeating_shapes.h"

namespace ingot {

template <class Op, class OpArguments>
void BinaryBackwardContract<Op, OpArguments>::cases(CaseList<Op>& list) {
  auto separate = [](Shape a, Shape b) {
    return [a, b](CaseBuilder& builder) {
      Arguments arguments;
      if constexpr (requires { arguments.a; }) {
        arguments.a = builder.filled(a);
        arguments.b = builder.filled(b);
      }
      arguments.dy = builder.filled(a, Fill::uniform(-1, 1));
      arguments.da = builder.blank(a);
      arguments.db = builder.blank(b);
      return arguments;
    };
  };
  add_repeating_shapes(list, separate);
  list.parity("a column", separate({5, 133}, {5, 1}));
  list.parity("several column blocks", separate({7, 1100}, {1100}));
  list.parity("no columns", separate({3, 0}, {3, 1}));
  list.parity("in place", [separate](CaseBuilder& builder) {
    Arguments arguments = separate({5, 37}, {37})(builder);
    const View<float> dy = builder.filled({5, 37}, Fill::uniform(-1, 1));
    arguments.dy = dy;
    arguments.da = dy;
    return arguments;
  });
  list.benchmark("512 x 4096", separate({512, 4096}, {512, 4096}));
  list.benchmark("512 x 4096 and a row", separate({512, 4096}, {4096}));
}

}  // namespace ingot
