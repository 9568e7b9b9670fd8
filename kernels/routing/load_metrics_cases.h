// Shapes: one of everything, experts nobody chose, no tokens.
#pragma once

#include "kernels/routing/load_metrics.h"

namespace ingot {

inline void LoadMetrics::cases(CaseList<LoadMetrics>& list) {
  auto of = [](std::int64_t tokens, std::int64_t per_token, std::int64_t experts) {
    return [=](CaseBuilder& builder) {
      Arguments a;
      a.probabilities = builder.filled({tokens, experts});
      a.indices = builder.filled<std::int32_t>({tokens, per_token}, Fill::indices(experts));
      a.counts = builder.blank<std::int32_t>({experts});
      a.mean_probability = builder.blank({experts});
      a.loss = builder.blank({1});
      return a;
    };
  };
  list.parity("7 tokens, 2 of 5", of(7, 2, 5));
  list.parity("one of everything", of(1, 1, 1));
  list.parity("more experts than choices", of(3, 2, 40));
  list.parity("no tokens", of(0, 2, 4));
  list.gradient("5 tokens, 2 of 4", of(5, 2, 4));
  list.benchmark("512 tokens, 8 of 128", of(512, 8, 128));
}

inline void LoadMetricsBackward::cases(CaseList<LoadMetricsBackward>& list) {
  auto of = [](std::int64_t tokens, std::int64_t per_token, std::int64_t experts, bool with_mean) {
    return [=](CaseBuilder& builder) {
      Arguments a;
      a.indices = builder.filled<std::int32_t>({tokens, per_token}, Fill::indices(experts));
      a.counts = builder.filled<std::int32_t>({experts}, Fill::indices(tokens + 1));
      if (with_mean) a.dmean_probability = builder.filled({experts});
      a.dloss = builder.filled({1});
      a.dprobabilities = builder.blank({tokens, experts});
      return a;
    };
  };
  list.parity("7 tokens, 2 of 5", of(7, 2, 5, true));
  list.parity("without the mean's gradient", of(3, 1, 4, false));
  list.parity("no tokens", of(0, 2, 4, true));
  list.benchmark("512 tokens, 8 of 128", of(512, 8, 128, true));
}

}  // namespace ingot
