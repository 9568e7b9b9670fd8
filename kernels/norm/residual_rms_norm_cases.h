// Shapes as for the RMS norm; sum in the residual's place and y in x's, as an engine runs it.
#pragma once

#include <string>

#include "kernels/norm/case_statistics.h"
#include "kernels/norm/residual_rms_norm.h"

namespace ingot {

inline void ResidualRmsNorm::cases(CaseList<ResidualRmsNorm>& list) {
  auto separate = [](Shape shape) {
    return [shape](CaseBuilder& builder) {
      Arguments a;
      a.x = builder.filled(shape);
      a.residual = builder.filled(shape);
      a.gamma = builder.filled({shape.last()}, Fill::uniform(-2, 2));
      a.sum = builder.blank(shape);
      a.y = builder.blank(shape);
      a.rstd = builder.blank(without_last_axis(shape), Packing::contiguous);
      return a;
    };
  };
  for (std::int64_t width : {1, 3, 7, 16, 33, 67, 129, 1000}) {
    list.parity("rows 3 width " + std::to_string(width), separate({3, width}));
  }
  for (const Shape shape : {Shape{2, 2052}, Shape{2, 5000}, Shape{2, 13000}, Shape{1, 40000}, Shape{1, 41000}}) {
    list.parity("long rows of " + std::to_string(shape.last()), separate(shape));
  }
  list.parity("one row of rank 1", separate({65}));
  list.parity("rank 4", separate({2, 3, 2, 40}));
  list.parity("no rows", separate({0, 8}));
  list.parity("both in place", [](CaseBuilder& builder) {
    Arguments a;
    const View<float> x = builder.filled({5, 37});
    const View<float> residual = builder.filled({5, 37});
    a.x = x;
    a.residual = residual;
    a.gamma = builder.filled({37}, Fill::uniform(-2, 2));
    a.sum = residual;
    a.y = x;
    return a;
  });
  list.gradient("2 x 5", separate({2, 5}));
  list.benchmark("1 x 4096", separate({1, 4096}));
  list.benchmark("512 x 4096", separate({512, 4096}));
  list.benchmark("16384 x 4096", separate({16384, 4096}));
  list.benchmark("4681 x 14336", separate({4681, 14336}));
}

inline void ResidualRmsNormBackward::cases(CaseList<ResidualRmsNormBackward>& list) {
  auto separate = [](Shape shape) {
    return [shape](CaseBuilder& builder) {
      Arguments a;
      a.sum = builder.filled(shape);
      a.gamma = builder.filled({shape.last()}, Fill::uniform(-2, 2));
      a.rstd =
          statistics_of(builder, a.sum, without_last_axis(shape), Centering::none, static_cast<double>(shape.last()))
              .rstd;
      a.dy = builder.filled(shape, Fill::uniform(-1, 1));
      a.dsum = builder.filled(shape, Fill::uniform(-1, 1));
      a.dx = builder.blank(shape);
      a.dresidual = builder.blank(shape);
      a.dgamma = builder.blank({shape.last()});
      return a;
    };
  };
  for (std::int64_t width : {1, 3, 16, 33, 129}) {
    list.parity("rows 3 width " + std::to_string(width), separate({3, width}));
  }
  list.parity("rank 3, many rows", separate({3, 40, 24}));
  list.parity("several parts of the rows", separate({70, 515}));
  list.parity("no rows", separate({0, 8}));
  list.parity("without dsum and dresidual", [separate](CaseBuilder& builder) {
    Arguments a = separate({4, 21})(builder);
    a.dsum = {};
    a.dresidual = {};
    return a;
  });
  list.parity("in the place of dsum", [separate](CaseBuilder& builder) {
    Arguments a = separate({4, 21})(builder);
    const View<float> dsum = builder.filled({4, 21}, Fill::uniform(-1, 1));
    a.dsum = dsum;
    a.dx = dsum;
    return a;
  });
  list.benchmark("512 x 4096", separate({512, 4096}));
}

}  // namespace ingot
