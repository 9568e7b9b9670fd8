// Shapes: odd lengths around every vector width, each way of repeating b, ranks 1 to 6, nothing at all, long rows that
// are cut into pieces; in place over a and over b.
#pragma once

#include "kernels/elementwise/binary.h"

namespace ingot {

// In a gradient case a divisor stays clear of zero, where no finite difference is small enough.
inline Fill divisor_fill(const CaseBuilder& builder) {
  return builder.regime() == Regime::gradient ? Fill::uniform(0.5, 2) : Fill::values();
}

template <class Op>
void BinaryContract<Op>::cases(CaseList<Op>& list) {
  auto separate = [](Shape a, Shape b) {
    return [a, b](CaseBuilder& builder) {
      Arguments arguments;
      arguments.a = builder.filled(a);
      arguments.b = builder.filled(b, divisor_fill(builder));
      arguments.y = builder.blank(a);
      return arguments;
    };
  };
  list.parity("3 x 37", separate({3, 37}, {3, 37}));
  list.parity("3 x 37 and a row", separate({3, 37}, {37}));
  list.parity("2 x 3 x 5 x 7 and a channel", separate({2, 3, 5, 7}, {3, 1, 1}));
  for (std::int64_t width : {1, 3, 16, 67, 129}) {
    list.parity("width " + std::to_string(width), separate({width}, {width}));
  }
  list.parity("a column", separate({5, 33}, {5, 1}));
  list.parity("one number", separate({4, 19}, {1}));
  list.parity("a number of rank 0", separate({4, 19}, {}));
  list.parity("last axis of 1", separate({9, 1}, {9, 1}));
  list.parity("rank 6, outer and inner axes repeat", separate({2, 1, 3, 2, 1, 5}, {2, 1, 1, 2, 1, 1}));
  list.parity("a middle axis repeats", separate({2, 3, 24}, {2, 1, 24}));
  list.parity("pieces of a long row", separate({40000}, {40000}));
  list.parity("no rows", separate({0, 8}, {8}));
  list.parity("in place over a", [](CaseBuilder& builder) {
    const View<float> a = builder.filled({5, 37});
    return Arguments{a, builder.filled({37}), a};
  });
  list.parity("in place over b", [](CaseBuilder& builder) {
    const View<float> b = builder.filled({5, 37});
    return Arguments{builder.filled({5, 37}), b, b};
  });
  list.gradient("2 x 5", separate({2, 5}, {2, 5}));
  list.gradient("2 x 3 x 4 and a middle axis", separate({2, 3, 4}, {3, 1}));
  list.benchmark("512 x 4096", separate({512, 4096}, {512, 4096}));
  list.benchmark("512 x 4096 and a row", separate({512, 4096}, {4096}));
}

}  // namespace ingot
