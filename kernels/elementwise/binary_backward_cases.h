// Shapes: those of the forward operations, so that each way of repeating b is summed back.
#pragma once

#include "kernels/elementwise/binary_backward.h"

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
  list.parity("3 x 37", separate({3, 37}, {3, 37}));
  list.parity("3 x 37 and a row", separate({3, 37}, {37}));
  list.parity("2 x 3 x 5 x 7 and a channel", separate({2, 3, 5, 7}, {3, 1, 1}));
  for (std::int64_t width : {1, 3, 16, 67, 129}) {
    list.parity("width " + std::to_string(width), separate({width}, {width}));
  }
  list.parity("a column", separate({5, 133}, {5, 1}));
  list.parity("one number", separate({4, 19}, {1}));
  list.parity("a number of rank 0", separate({4, 19}, {}));
  list.parity("last axis of 1", separate({9, 1}, {9, 1}));
  list.parity("rank 6, outer and inner axes repeat", separate({2, 1, 3, 2, 1, 5}, {2, 1, 1, 2, 1, 1}));
  list.parity("a middle axis repeats", separate({2, 3, 24}, {2, 1, 24}));
  list.parity("several column blocks", separate({7, 1100}, {1100}));
  list.parity("no rows", separate({0, 8}, {8}));
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
