// Shapes as for the RMS norm, and the heads of delta-rule attention.
#pragma once

#include <string>

#include "kernels/norm/case_statistics.h"
#include "kernels/norm/l2_norm.h"

namespace ingot {

inline void L2Norm::cases(CaseList<L2Norm>& list) {
  auto filled_with = [](Shape shape, Fill fill, float epsilon) {
    return [shape, fill, epsilon](CaseBuilder& builder) {
      Arguments a;
      a.x = builder.filled(shape, fill);
      a.epsilon = epsilon;
      a.y = builder.blank(shape);
      a.rstd = builder.blank(without_last_axis(shape), Packing::contiguous);
      return a;
    };
  };
  auto separate = [&](Shape shape) { return filled_with(shape, Fill::values(), 1e-6f); };
  for (std::int64_t width : {1, 3, 7, 16, 33, 67, 129, 1000}) {
    list.parity("rows 3 width " + std::to_string(width), separate({3, width}));
  }
  list.parity("one row of rank 1", separate({65}));
  list.parity("rank 4", separate({2, 3, 2, 40}));
  list.parity("no rows", separate({0, 8}));
  list.parity("without epsilon", filled_with({3, 50}, Fill::uniform(1e-30, 2e-30), 0.0f));
  list.parity("squares beyond float", filled_with({3, 50}, Fill::uniform(-1e25, 1e25), 1e-6f));
  list.parity("in place", [](CaseBuilder& builder) {
    Arguments a;
    const View<float> x = builder.filled({5, 37});
    a.x = x;
    a.y = x;
    return a;
  });
  list.gradient("2 x 5", separate({2, 5}));
  list.benchmark("512 tokens, 16 heads of 128", separate({512, 16, 128}));
}

inline void L2NormBackward::cases(CaseList<L2NormBackward>& list) {
  auto separate = [](Shape shape) {
    return [shape](CaseBuilder& builder) {
      Arguments a;
      a.x = builder.filled(shape);
      a.rstd = statistics_of(builder, a.x, without_last_axis(shape), Centering::none, 1).rstd;
      a.dy = builder.filled(shape, Fill::uniform(-1, 1));
      a.dx = builder.blank(shape);
      return a;
    };
  };
  for (std::int64_t width : {1, 3, 16, 33, 129}) {
    list.parity("rows 3 width " + std::to_string(width), separate({3, width}));
  }
  list.parity("rank 3, many rows", separate({3, 40, 24}));
  list.parity("no rows", separate({0, 8}));
  list.benchmark("512 tokens, 16 heads of 128", separate({512, 16, 128}));
}

}  // namespace ingot
