// The forward's shapes. log_sum_exp is made large enough that weights stay at most about 1, as a forward's would.
#pragma once

#include "kernels/attention/sdpa/sdpa_backward.h"
#include "kernels/attention/sdpa/sdpa_cases.h"

namespace ingot {

inline void SdpaBackward::cases(CaseList<SdpaBackward>& list) {
  auto made = [](const SdpaShape& shape, bool some_see_nothing = false) {
    return [shape, some_see_nothing](CaseBuilder& builder) {
      Arguments a;
      fill_sdpa_inputs(builder, shape, a);
      a.y = sdpa_tensor(builder, shape, shape.heads, shape.queries, shape.value_dimensions, false);
      const View<float> log_sum_exp = builder.filled({shape.batches, shape.heads, shape.queries}, Fill::uniform(4, 5));
      for (std::int64_t i = 1; some_see_nothing && i < shape.queries; i += 3) {
        log_sum_exp(0, 0, i) = -std::numeric_limits<float>::infinity();
      }
      a.log_sum_exp = log_sum_exp;
      a.dy = sdpa_tensor(builder, shape, shape.heads, shape.queries, shape.value_dimensions, false);
      a.dq = sdpa_tensor(builder, shape, shape.heads, shape.queries, shape.dimensions, true);
      a.dk = sdpa_tensor(builder, shape, shape.key_heads, shape.keys, shape.dimensions, true);
      a.dv = sdpa_tensor(builder, shape, shape.key_heads, shape.keys, shape.value_dimensions, true);
      if (shape.sinks) a.dsinks = builder.blank({shape.heads});
      return a;
    };
  };
  for_each_sdpa_shape([&](const char* name, const SdpaShape& shape) { list.parity(name, made(shape)); });
  list.parity("queries without weights among others",
              made({1, 2, 1, 37, 50, 8, 8, MaskKind::causal, 10, 15, 0, {}, false, true}, true));
  list.benchmark("512 tokens, 8 heads of 64", made({1, 8, 8, 512, 512, 64, 64, MaskKind::causal}));
}

}  // namespace ingot
