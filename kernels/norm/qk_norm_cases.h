// More query heads than key heads; queries and keys as slices of one projection; no tokens.
#pragma once

#include <string>

#include "kernels/norm/case_statistics.h"
#include "kernels/norm/qk_norm.h"

namespace ingot {

inline void QkNorm::cases(CaseList<QkNorm>& list) {
  auto separate = [](std::int64_t tokens, std::int64_t heads, std::int64_t key_heads, std::int64_t width) {
    return [=](CaseBuilder& builder) {
      Arguments a;
      a.q = builder.filled({tokens, heads, width});
      a.k = builder.filled({tokens, key_heads, width});
      a.q_gamma = builder.filled({width}, Fill::uniform(-2, 2));
      a.k_gamma = builder.filled({width}, Fill::uniform(-2, 2));
      a.q_out = builder.blank({tokens, heads, width});
      a.k_out = builder.blank({tokens, key_heads, width});
      a.q_rstd = builder.blank({tokens, heads}, Packing::contiguous);
      a.k_rstd = builder.blank({tokens, key_heads}, Packing::contiguous);
      return a;
    };
  };
  for (std::int64_t width : {1, 5, 16, 64, 80}) {
    list.parity("3 tokens, 4 and 2 heads of " + std::to_string(width), separate(3, 4, 2, width));
  }
  list.parity("no tokens", separate(0, 4, 2, 8));
  list.parity("slices of one projection, in place", [](CaseBuilder& builder) {
    const View<float> both = builder.filled({3, 6, 24});
    const View<float> q(both.data(), {3, 4, 24}, both.strides());
    const View<float> k(both.data() + 4 * both.stride(1), {3, 2, 24}, both.strides());
    Arguments a;
    a.q = q;
    a.k = k;
    a.q_gamma = builder.filled({24}, Fill::uniform(-2, 2));
    a.k_gamma = builder.filled({24}, Fill::uniform(-2, 2));
    a.q_out = q;
    a.k_out = k;
    return a;
  });
  list.gradient("2 tokens, 2 and 1 heads of 4", separate(2, 2, 1, 4));
  list.benchmark("1 token, 32 and 8 heads of 128", separate(1, 32, 8, 128));
  list.benchmark("512 tokens, 32 and 8 heads of 128", separate(512, 32, 8, 128));
}

inline void QkNormBackward::cases(CaseList<QkNormBackward>& list) {
  auto separate = [](std::int64_t tokens, std::int64_t heads, std::int64_t key_heads, std::int64_t width) {
    return [=](CaseBuilder& builder) {
      const Shape q = {tokens, heads, width};
      const Shape k = {tokens, key_heads, width};
      Arguments a;
      a.q = builder.filled(q);
      a.k = builder.filled(k);
      a.q_gamma = builder.filled({width}, Fill::uniform(-2, 2));
      a.k_gamma = builder.filled({width}, Fill::uniform(-2, 2));
      const auto divisor = static_cast<double>(width);
      a.q_rstd = statistics_of(builder, a.q, {tokens, heads}, Centering::none, divisor).rstd;
      a.k_rstd = statistics_of(builder, a.k, {tokens, key_heads}, Centering::none, divisor).rstd;
      a.dq_out = builder.filled(q, Fill::uniform(-1, 1));
      a.dk_out = builder.filled(k, Fill::uniform(-1, 1));
      a.dq = builder.blank(q);
      a.dk = builder.blank(k);
      a.dq_gamma = builder.blank({width});
      a.dk_gamma = builder.blank({width});
      return a;
    };
  };
  for (std::int64_t width : {1, 16, 37}) {
    list.parity("3 tokens, 4 and 2 heads of " + std::to_string(width), separate(3, 4, 2, width));
  }
  list.parity("several parts of the rows", separate(90, 8, 2, 128));
  list.parity("no tokens", separate(0, 4, 2, 8));
  list.benchmark("512 tokens, 32 and 8 heads of 128", separate(512, 32, 8, 128));
}

}  // namespace ingot
