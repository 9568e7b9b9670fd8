#include "kernels/routing/load_metrics.h"

namespace ingot {

void load_metrics_reference(const LoadMetrics::Arguments& a, Context&) {
  const std::int64_t tokens = a.probabilities.size(0);
  const std::int64_t experts = a.probabilities.size(1);
  for (std::int64_t e = 0; e < experts; ++e) a.counts(e) = 0;
  for (std::int64_t token = 0; token < tokens; ++token) {
    for (std::int64_t j = 0; j < a.indices.size(1); ++j) ++a.counts(a.indices(token, j));
  }
  const double choices = static_cast<double>(tokens) * static_cast<double>(a.indices.size(1));
  double loss = 0;
  for (std::int64_t e = 0; e < experts; ++e) {
    double sum = 0;
    for (std::int64_t token = 0; token < tokens; ++token) sum += a.probabilities(token, e);
    const double mean = tokens == 0 ? 0 : sum / static_cast<double>(tokens);
    a.mean_probability(e) = static_cast<float>(mean);
    if (tokens > 0) loss += a.counts(e) / choices * mean;
  }
  a.loss(0) = static_cast<float>(static_cast<double>(experts) * loss);
}

void load_metrics_backward_reference(const LoadMetricsBackward::Arguments& a, Context&) {
  const auto tokens = static_cast<double>(a.dprobabilities.size(0));
  const auto experts = static_cast<double>(a.dprobabilities.size(1));
  const double choices = tokens * static_cast<double>(a.indices.size(1));
  for (std::int64_t token = 0; token < a.dprobabilities.size(0); ++token) {
    for (std::int64_t e = 0; e < a.dprobabilities.size(1); ++e) {
      const double direct = is_present(a.dmean_probability) ? double{a.dmean_probability(e)} : 0;
      const double gradient = (direct + double{a.dloss(0)} * experts * a.counts(e) / choices) / tokens;
      a.dprobabilities(token, e) = static_cast<float>(gradient);
    }
  }
}

}  // namespace ingot
