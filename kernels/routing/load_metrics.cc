#include "kernels/routing/load_metrics.h"

#include "kernels/contract/describe.h"
#include "kernels/routing/expert_indices.h"
#include "kernels/routing/load_metrics_cases.h"

namespace ingot {
namespace {

template <class Op>
Result<std::int64_t> check_probabilities(std::string_view field, const ConstAnyView& probabilities) {
  TRY(require_rank(Op::name, "C1", field, probabilities, 2));
  const std::int64_t experts = probabilities.size(1);
  if (experts < 1) return violated(Op::name, "C1", "expected 1 expert or more, found ", probabilities.shape());
  return experts;
}

}  // namespace

Result<void> LoadMetrics::check(const Arguments& a) {
  const std::int64_t experts = TRY(check_probabilities<LoadMetrics>("probabilities", a.probabilities));
  TRY(require_expert_indices(name, "C2", "C2", a.indices, experts));
  TRY(require_shape(name, "C2", "indices", a.indices, {a.probabilities.size(0), a.indices.size(1)}));
  TRY(require_shape(name, "C3", "counts", a.counts, {experts}));
  TRY(require_shape(name, "C3", "mean_probability", a.mean_probability, {experts}));
  return require_shape(name, "C3", "loss", a.loss, {1});
}

Cost LoadMetrics::cost(const Arguments& a) {
  const auto count = static_cast<double>(a.probabilities.count());
  return {.operations = count,
          .bytes_read = 4 * (count + static_cast<double>(a.indices.count())),
          .bytes_written = 8 * static_cast<double>(a.counts.count())};
}

Tolerance LoadMetrics::tolerance(const Arguments&) {
  return {.epsilons = 16, .scale = ErrorScale::tensor, .reason = "sums over tokens and experts"};
}

// The reference is the only variant on the host: a few sums over [T, E], taken while training and in reports.
std::span<const Variant<LoadMetrics>> LoadMetrics::variants() {
  static const Variant<LoadMetrics> table[] = {
      load_metrics_cuda,
      {"reference", {}, load_metrics_reference},
  };
  return table;
}

Result<void> LoadMetricsBackward::check(const Arguments& a) {
  const std::int64_t experts = TRY(check_probabilities<LoadMetricsBackward>("dprobabilities", a.dprobabilities));
  TRY(require_rank(name, "C2", "indices", a.indices, 2));
  TRY(require_shape(name, "C2", "indices", a.indices, {a.dprobabilities.size(0), a.indices.size(1)}));
  if (a.indices.size(1) < 1) {
    return violated(name, "C2", "expected 1 expert a token or more, found indices ", a.indices.shape());
  }
  TRY(require_shape(name, "C3", "counts", a.counts, {experts}));
  if (is_present(a.dmean_probability)) {
    TRY(require_shape(name, "C3", "dmean_probability", a.dmean_probability, {experts}));
  }
  return require_shape(name, "C3", "dloss", a.dloss, {1});
}

Cost LoadMetricsBackward::cost(const Arguments& a) {
  const auto count = static_cast<double>(a.dprobabilities.count());
  return {.operations = count, .bytes_read = 8 * static_cast<double>(a.counts.count()), .bytes_written = 4 * count};
}

Tolerance LoadMetricsBackward::tolerance(const Arguments&) {
  return {.epsilons = 8, .scale = ErrorScale::row, .reason = "a sum of two terms that may cancel"};
}

std::span<const Variant<LoadMetricsBackward>> LoadMetricsBackward::variants() {
  static const Variant<LoadMetricsBackward> table[] = {
      {"reference", {}, load_metrics_backward_reference},
  };
  return table;
}

template const Operation& describe_operation<LoadMetrics>();
template const Operation& describe_operation<LoadMetricsBackward>();

}  // namespace ingot
