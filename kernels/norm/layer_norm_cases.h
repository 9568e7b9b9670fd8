// Shapes as for the RMS norm; with and without gamma and beta; a mean that dwarfs the deviations.
#pragma once

#include <string>

#include "kernels/norm/case_statistics.h"
#include "kernels/norm/layer_norm.h"

namespace ingot {

inline void LayerNorm::cases(CaseList<LayerNorm>& list) {
  auto filled_with = [](Shape shape, Fill fill) {
    return [shape, fill](CaseBuilder& builder) {
      Arguments a;
      a.x = builder.filled(shape, fill);
      a.gamma = builder.filled({shape.last()}, Fill::uniform(-2, 2));
      a.beta = builder.filled({shape.last()}, Fill::uniform(-1, 1));
      a.y = builder.blank(shape);
      a.mean = builder.blank(without_last_axis(shape), Packing::contiguous);
      a.rstd = builder.blank(without_last_axis(shape), Packing::contiguous);
      return a;
    };
  };
  auto separate = [&](Shape shape) { return filled_with(shape, Fill::values()); };
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
  list.parity("squares beyond float", filled_with({3, 50}, Fill::uniform(-1e25, 1e25)));
  auto without_weights = [](CaseBuilder& builder) {
    Arguments a;
    a.x = builder.filled({4, 6});
    a.y = builder.blank({4, 6});
    a.mean = builder.blank({4}, Packing::contiguous);
    a.rstd = builder.blank({4}, Packing::contiguous);
    return a;
  };
  list.parity("without gamma and beta", without_weights);
  list.parity("in place, without beta", [](CaseBuilder& builder) {
    Arguments a;
    const View<float> x = builder.filled({5, 37});
    a.x = x;
    a.gamma = builder.filled({37}, Fill::uniform(-2, 2));
    a.y = x;
    return a;
  });
  list.gradient("2 x 5", separate({2, 5}));
  list.gradient("without gamma and beta", without_weights);
  list.benchmark("1 x 4096", separate({1, 4096}));
  list.benchmark("512 x 4096", separate({512, 4096}));
  list.benchmark("16384 x 4096", separate({16384, 4096}));
  list.benchmark("4681 x 14336", separate({4681, 14336}));
}

inline void LayerNormBackward::cases(CaseList<LayerNormBackward>& list) {
  auto separate = [](Shape shape) {
    return [shape](CaseBuilder& builder) {
      Arguments a;
      a.x = builder.filled(shape);
      a.gamma = builder.filled({shape.last()}, Fill::uniform(-2, 2));
      const CaseStatistics statistics =
          statistics_of(builder, a.x, without_last_axis(shape), Centering::mean, static_cast<double>(shape.last()));
      a.mean = statistics.mean;
      a.rstd = statistics.rstd;
      a.dy = builder.filled(shape, Fill::uniform(-1, 1));
      a.dx = builder.blank(shape);
      a.dgamma = builder.blank({shape.last()});
      a.dbeta = builder.blank({shape.last()});
      return a;
    };
  };
  for (std::int64_t width : {1, 3, 16, 33, 129}) {
    list.parity("rows 3 width " + std::to_string(width), separate({3, width}));
  }
  list.parity("rank 3, many rows", separate({3, 40, 24}));
  list.parity("several parts of the rows", separate({70, 1025}));
  list.parity("no rows", separate({0, 8}));
  list.parity("without gamma, dx alone", [separate](CaseBuilder& builder) {
    Arguments a = separate({4, 21})(builder);
    a.gamma = {};
    a.dgamma = {};
    a.dbeta = {};
    return a;
  });
  list.benchmark("512 x 4096", separate({512, 4096}));
}

}  // namespace ingot
