// Odd widths around every vector length, positions that repeat; in place; nothing at all.
#pragma once

#include "kernels/position/learned.h"

namespace ingot {

inline void Learned::cases(CaseList<Learned>& list) {
  auto made = [](Shape shape, std::int64_t rows, bool in_place = false) {
    return [=](CaseBuilder& builder) {
      Arguments a;
      const View<float> x = builder.filled(shape);
      a.x = x;
      a.table = builder.filled({rows, shape[1]});
      a.positions = builder.filled<std::int32_t>({shape[0]}, Fill::indices(rows));
      a.y = in_place ? x : builder.blank(shape);
      return a;
    };
  };
  for (std::int64_t width : {1, 3, 16, 33, 129}) {
    list.parity("7 tokens of " + std::to_string(width), made({7, width}, 5));
  }
  list.parity("many tokens", made({300, 70}, 40));
  list.parity("no tokens", made({0, 8}, 3));
  list.parity("in place", made({5, 37}, 2, true));
  list.gradient("4 x 3", made({4, 3}, 3));
  list.benchmark("2048 x 1024", made({2048, 1024}, 2048));
}

inline void LearnedBackward::cases(CaseList<LearnedBackward>& list) {
  auto made = [](Shape shape, std::int64_t rows, bool with_dx) {
    return [=](CaseBuilder& builder) {
      Arguments a;
      a.dy = builder.filled(shape);
      a.positions = builder.filled<std::int32_t>({shape[0]}, Fill::indices(rows));
      a.dtable = builder.blank({rows, shape[1]});
      if (with_dx) a.dx = builder.blank(shape);
      return a;
    };
  };
  list.parity("7 tokens", made({7, 33}, 5, true));
  list.parity("dtable alone", made({40, 6}, 3, false));
  list.parity("no tokens", made({0, 8}, 3, true));
  list.benchmark("2048 x 1024", made({2048, 1024}, 2048, false));
}

}  // namespace ingot
