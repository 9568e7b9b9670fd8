// Shapes: a single element, odd widths around every vector length, rank above 2, no rows at all; in place.
#pragma once

#include <string>

#include "kernels/norm/case_statistics.h"
#include "kernels/norm/rms_norm.h"
#include "kernels/norm/shapes.h"

namespace ingot {

inline void RmsNorm::cases(CaseList<RmsNorm>& list) {
  auto separate = [](Shape shape) {
    return [shape](CaseBuilder& builder) {
      Arguments a;
      a.x = builder.filled(shape);
      a.gamma = builder.filled({shape.last()}, Fill::uniform(-2, 2));
      a.y = builder.blank(shape);
      a.rstd = builder.blank(without_last_axis(shape), Packing::contiguous);
      return a;
    };
  };
  for (std::int64_t width : {1, 3, 7, 16, 33, 67, 129, 1000, 1501}) {
    list.parity("rows 3 width " + std::to_string(width), separate({3, width}));
  }
  list.parity("one row of rank 1", separate({65}));
  list.parity("rank 4", separate({2, 3, 2, 40}));
  list.parity("no rows", separate({0, 8}));
  for (const Shape shape : {Shape{2, 2052}, Shape{2, 5000}, Shape{2, 13000}, Shape{1, 40000}, Shape{1, 41000}}) {
    list.parity("long rows of " + std::to_string(shape.last()), separate(shape));
  }
  list.parity("longer than a block of the sum", separate({2, 9001}));
  list.parity("without epsilon", [](CaseBuilder& builder) {
    Arguments a;
    a.x = builder.filled({3, 50}, Fill::uniform(1e-30, 2e-30));  // squares underflow in float
    a.gamma = builder.filled({50}, Fill::uniform(-2, 2));
    a.epsilon = 0;
    a.y = builder.blank({3, 50});
    return a;
  });
  list.parity("squares beyond float", [](CaseBuilder& builder) {
    Arguments a;
    a.x = builder.filled({3, 50}, Fill::uniform(-1e25, 1e25));
    a.gamma = builder.filled({50}, Fill::uniform(-2, 2));
    a.y = builder.blank({3, 50});
    return a;
  });
  list.parity("in place", [](CaseBuilder& builder) {
    Arguments a;
    const View<float> x = builder.filled({5, 37});
    a.x = x;
    a.gamma = builder.filled({37}, Fill::uniform(-2, 2));
    a.y = x;
    return a;
  });
  list.gradient("2 x 5", separate({2, 5}));
  list.benchmark("1 x 4096", separate({1, 4096}));
  list.benchmark("512 x 4096", separate({512, 4096}));
  list.benchmark("16384 x 4096", separate({16384, 4096}));
  list.benchmark("4681 x 14336", separate({4681, 14336}));
}

inline void RmsNormBackward::cases(CaseList<RmsNormBackward>& list) {
  auto separate = [](Shape shape) {
    return [shape](CaseBuilder& builder) {
      Arguments a;
      a.x = builder.filled(shape);
      a.gamma = builder.filled({shape.last()}, Fill::uniform(-2, 2));
      a.rstd = statistics_of(builder, a.x, without_last_axis(shape), Centering::none, static_cast<double>(shape.last()))
                   .rstd;
      a.dy = builder.filled(shape, Fill::uniform(-1, 1));
      a.dx = builder.blank(shape);
      a.dgamma = builder.blank({shape.last()});
      return a;
    };
  };
  for (std::int64_t width : {1, 3, 16, 33, 129}) {
    list.parity("rows 3 width " + std::to_string(width), separate({3, width}));
  }
  list.parity("rank 3, many rows", separate({3, 40, 24}));
  list.parity("several parts of the rows", separate({70, 1025}));
  list.parity("no rows", separate({0, 8}));
  list.benchmark("512 x 4096", separate({512, 4096}));
}

}  // namespace ingot
