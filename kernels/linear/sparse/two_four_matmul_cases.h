// Shapes: four columns, odd multiples of four, no rows, nothing to sum.
#pragma once

#include "kernels/linear/sparse/two_four_matmul.h"

namespace ingot {

// One of the six ways to keep two of four, at random for each four neighbours.
inline View<const std::uint8_t> two_four_positions(CaseBuilder& builder, std::int64_t outputs, std::int64_t depth) {
  constexpr std::uint8_t pairs[] = {0 | 1 << 2, 0 | 2 << 2, 0 | 3 << 2, 1 | 2 << 2, 1 | 3 << 2, 2 | 3 << 2};
  const View<std::uint8_t> positions = builder.filled<std::uint8_t>({outputs, depth / 4}, Fill::indices(6));
  for (std::int64_t n = 0; n < outputs; ++n) {
    for (std::int64_t four = 0; four < depth / 4; ++four) positions(n, four) = pairs[positions(n, four)];
  }
  return positions;
}

inline void TwoFourMatmul::cases(CaseList<TwoFourMatmul>& list) {
  auto build = [](std::int64_t rows, std::int64_t outputs, std::int64_t depth, bool with_bias) {
    return [=](CaseBuilder& builder) {
      Arguments a;
      a.x = builder.filled({rows, depth});
      a.values = builder.filled({outputs, depth / 2}, Fill::uniform(-1, 1));
      a.positions = two_four_positions(builder, outputs, depth);
      if (with_bias) a.bias = builder.filled({outputs}, Fill::uniform(-1, 1));
      a.y = builder.blank({rows, outputs});
      return a;
    };
  };
  list.exclude(Regime::specials,
               "whether a weight that is not kept meets an infinity (0 x inf) is left to the variant");
  list.parity("1 x 1 x 4", build(1, 1, 4, false));
  list.parity("3 x 5 x 36", build(3, 5, 36, true));
  list.parity("2 x 7 x 132", build(2, 7, 132, true));
  list.parity("no rows", build(0, 3, 8, false));
  list.parity("nothing to sum", build(2, 3, 0, true));
  list.gradient("2 x 3 x 8", build(2, 3, 8, true));
  list.benchmark("1 x 4096 x 4096", build(1, 4096, 4096, false));
}

inline void TwoFourMatmulBackward::cases(CaseList<TwoFourMatmulBackward>& list) {
  auto build = [](std::int64_t rows, std::int64_t outputs, std::int64_t depth) {
    return [=](CaseBuilder& builder) {
      Arguments a;
      a.x = builder.filled({rows, depth});
      a.values = builder.filled({outputs, depth / 2}, Fill::uniform(-1, 1));
      a.positions = two_four_positions(builder, outputs, depth);
      a.dy = builder.filled({rows, outputs}, Fill::uniform(-1, 1));
      a.dx = builder.blank({rows, depth});
      a.dvalues = builder.blank({outputs, depth / 2});
      a.dbias = builder.blank({outputs});
      return a;
    };
  };
  list.parity("3 x 5 x 36", build(3, 5, 36));
  list.parity("no rows", build(0, 3, 8));
  list.benchmark("16 x 256 x 512", build(16, 256, 512));
}

}  // namespace ingot
