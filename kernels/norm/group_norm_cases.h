// One group, one channel a group, and between; odd images; no positions but one; no images.
#pragma once

#include <string>

#include "kernels/norm/case_statistics.h"
#include "kernels/norm/group_norm.h"

namespace ingot {

inline void GroupNorm::cases(CaseList<GroupNorm>& list) {
  auto separate = [](Shape shape, std::int64_t groups) {
    return [shape, groups](CaseBuilder& builder) {
      Arguments a;
      a.x = builder.filled(shape, Fill::values(), Packing::contiguous);
      a.gamma = builder.filled({shape[1]}, Fill::uniform(-2, 2));
      a.beta = builder.filled({shape[1]}, Fill::uniform(-1, 1));
      a.groups = groups;
      a.y = builder.blank(shape, Packing::contiguous);
      a.mean = builder.blank({shape[0], groups}, Packing::contiguous);
      a.rstd = builder.blank({shape[0], groups}, Packing::contiguous);
      return a;
    };
  };
  list.parity("one number", separate({1, 1, 1}, 1));
  list.parity("channels alone", separate({3, 12}, 4));
  list.parity("images of 5 x 7 in 2 groups", separate({2, 6, 5, 7}, 2));
  list.parity("a group a channel", separate({2, 3, 67}, 3));
  list.parity("one group", separate({2, 5, 33}, 1));
  list.parity("volumes", separate({1, 4, 3, 5, 7}, 2));
  list.parity("no images", separate({0, 4, 8}, 2));
  list.parity("longer than a block of the sum", separate({2, 4, 71, 65}, 2));
  auto without_weights = [](CaseBuilder& builder) {
    Arguments a;
    const View<float> x = builder.filled({2, 4, 3}, Fill::values(), Packing::contiguous);
    a.x = x;
    a.groups = 2;
    a.y = builder.blank({2, 4, 3}, Packing::contiguous);
    a.mean = builder.blank({2, 2}, Packing::contiguous);
    a.rstd = builder.blank({2, 2}, Packing::contiguous);
    return a;
  };
  list.parity("without gamma and beta", without_weights);
  list.parity("in place", [](CaseBuilder& builder) {
    Arguments a;
    const View<float> x = builder.filled({2, 4, 19}, Fill::values(), Packing::contiguous);
    a.x = x;
    a.gamma = builder.filled({4}, Fill::uniform(-2, 2));
    a.groups = 2;
    a.y = x;
    return a;
  });
  list.gradient("2 x 4 x 3 in 2 groups", separate({2, 4, 3}, 2));
  list.gradient("without gamma and beta", without_weights);
  list.benchmark("1 x 320 x 64 x 64 in 32 groups", separate({1, 320, 64, 64}, 32));
}

inline void GroupNormBackward::cases(CaseList<GroupNormBackward>& list) {
  auto separate = [](Shape shape, std::int64_t groups) {
    return [shape, groups](CaseBuilder& builder) {
      Arguments a;
      const View<float> x = builder.filled(shape, Fill::values(), Packing::contiguous);
      a.x = x;
      a.gamma = builder.filled({shape[1]}, Fill::uniform(-2, 2));
      a.groups = groups;
      const std::int64_t length = element_count(shape) / std::max<std::int64_t>(shape[0] * groups, 1);
      const CaseStatistics statistics = statistics_of(builder, View<const float>(x.data(), {shape[0] * groups, length}),
                                                      {shape[0], groups}, Centering::mean, static_cast<double>(length));
      a.mean = statistics.mean;
      a.rstd = statistics.rstd;
      a.dy = builder.filled(shape, Fill::uniform(-1, 1), Packing::contiguous);
      a.dx = builder.blank(shape, Packing::contiguous);
      a.dgamma = builder.blank({shape[1]});
      a.dbeta = builder.blank({shape[1]});
      return a;
    };
  };
  list.parity("one number", separate({1, 1, 1}, 1));
  list.parity("channels alone", separate({3, 12}, 4));
  list.parity("images of 5 x 7 in 2 groups", separate({2, 6, 5, 7}, 2));
  list.parity("a group a channel", separate({2, 3, 67}, 3));
  list.parity("one group", separate({2, 5, 33}, 1));
  list.parity("no images", separate({0, 4, 8}, 2));
  list.parity("longer than a block of the sum", separate({2, 4, 71, 65}, 2));
  list.parity("without gamma, dx alone", [separate](CaseBuilder& builder) {
    Arguments a = separate({2, 4, 21}, 2)(builder);
    a.gamma = {};
    a.dgamma = {};
    a.dbeta = {};
    return a;
  });
  list.benchmark("1 x 320 x 64 x 64 in 32 groups", separate({1, 320, 64, 64}, 32));
}

}  // namespace ingot
