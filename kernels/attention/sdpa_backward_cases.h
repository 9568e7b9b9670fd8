// The forward's shapes. log_sum_exp is made large enough that weights stay at most about 1, as a forward's would.
#pragma once

#include "kernels/attention/sdpa_backward.h"
#include "kernels/attention/sdpa_cases.h"

namespace ingot {

inline void SdpaBackward::cases(CaseList<SdpaBackward>& list) {
  auto made = [](const SdpaShape& shape) {
    return [shape](CaseBuilder& builder) {
      Arguments a;
      fill_sdpa_inputs(builder, shape, a);
      a.y = sdpa_tensor(builder, shape, shape.heads, shape.queries, shape.value_dimensions, false);
      a.log_sum_exp = builder.filled({shape.batches, shape.heads, shape.queries}, Fill::uniform(4, 5));
      a.dy = sdpa_tensor(builder, shape, shape.heads, shape.queries, shape.value_dimensions, false);
      a.dq = sdpa_tensor(builder, shape, shape.heads, shape.queries, shape.dimensions, true);
      a.dk = sdpa_tensor(builder, shape, shape.key_heads, shape.keys, shape.dimensions, true);
      a.dv = sdpa_tensor(builder, shape, shape.key_heads, shape.keys, shape.value_dimensions, true);
      if (shape.sinks) a.dsinks = builder.blank({shape.heads});
      return a;
    };
  };
  for_each_sdpa_shape([&](const char* name, const SdpaShape& shape) { list.parity(name, made(shape)); });
  list.benchmark("512 tokens, 8 heads of 64", made({1, 8, 8, 512, 512, 64, 64, MaskKind::causal}));
}

}  // namespace ingot
