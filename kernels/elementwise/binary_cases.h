// Shapes: odd lengths around every vector width, each way of repeating b, ranks 1 to 6, nothing at all, long rows that
// are cut into pieces; in place over a and over b.
#pragma once

#include "kernels/elementwise/binary.h"
#include "kernels/elementwise/repeating_shapes.h"

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
  add_repeating_shapes(list, separate);
  list.parity("a column", separate({5, 33}, {5, 1}));
  list.parity("pieces of a long row", separate({40000}, {40000}));
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
  // What no cache holds: one of them tells of all.
  if (Op::name == "elementwise.add") list.benchmark("16384 x 4096", separate({16384, 4096}, {16384, 4096}));
}

}  // namespace ingot
