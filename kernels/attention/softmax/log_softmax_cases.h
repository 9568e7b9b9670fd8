// Shapes: a single element, odd widths around every vector length, rank above 2, nothing at all; in place.
#pragma once

#include "kernels/attention/softmax/log_softmax.h"

namespace ingot {

inline void LogSoftmax::cases(CaseList<LogSoftmax>& list) {
  auto made = [](Shape shape, bool in_place = false) {
    return [shape, in_place](CaseBuilder& builder) {
      Arguments a;
      const View<float> x = builder.filled(shape);
      a.x = x;
      a.y = in_place ? x : builder.blank(shape);
      return a;
    };
  };
  for (std::int64_t width : {1, 3, 7, 16, 33, 67, 129, 1000, 1301, 8206}) {
    list.parity("rows 3 width " + std::to_string(width), made({3, width}));
  }
  list.parity("one row of rank 1", made({65}));
  list.parity("rank 4", made({2, 3, 2, 40}));
  list.parity("no rows", made({0, 8}));
  list.parity("no columns", made({3, 0}));
  list.parity("in place", made({5, 37}, true));
  list.gradient("2 x 5", made({2, 5}));
  list.benchmark("64 x 32000", made({64, 32000}));
}

inline void LogSoftmaxBackward::cases(CaseList<LogSoftmaxBackward>& list) {
  auto made = [](Shape shape, bool in_place = false) {
    return [shape, in_place](CaseBuilder& builder) {
      Arguments a;
      a.y = builder.filled(shape, Fill::uniform(-9, 0));
      const View<float> dy = builder.filled(shape);
      a.dy = dy;
      a.dx = in_place ? dy : builder.blank(shape);
      return a;
    };
  };
  for (std::int64_t width : {1, 3, 16, 33, 129}) {
    list.parity("rows 3 width " + std::to_string(width), made({3, width}));
  }
  list.parity("rank 3, many rows", made({3, 40, 24}));
  list.parity("no rows", made({0, 8}));
  list.parity("no columns", made({3, 0}));
  list.parity("in place", made({5, 37}, true));
  list.benchmark("64 x 32000", made({64, 32000}));
}

}  // namespace ingot
