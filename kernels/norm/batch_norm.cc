#include "kernels/norm/batch_norm.h"

#include "kernels/contract/describe.h"
#include "kernels/norm/batch_norm_cases.h"
#include "kernels/norm/group_norm.h"
#include "kernels/norm/shapes.h"

namespace ingot {

static void batch_norm_reference(const BatchNorm::Arguments& a, Context&) {
  const ChannelLayout layout(a.x.shape());
  for (std::int64_t i = 0; i < a.x.count(); ++i) {
    const std::int64_t channel = i / layout.positions % layout.channels;
    const double rstd = 1 / std::sqrt(double{a.variance(channel)} + double{a.epsilon});
    const double xhat = (double{a.x.data()[i]} - a.mean(channel)) * rstd;
    a.y.data()[i] = static_cast<float>(a.gamma(channel) * xhat + a.beta(channel));
  }
}

Result<void> BatchNorm::check(const Arguments& a) {
  TRY(require_channels(name, "C1", a.x));
  TRY(require_rows(name, "C2", "gamma", a.gamma, {a.x.size(1)}));
  TRY(require_rows(name, "C2", "beta", a.beta, {a.x.size(1)}));
  TRY(require_rows(name, "C2", "mean", a.mean, {a.x.size(1)}));
  TRY(require_rows(name, "C2", "variance", a.variance, {a.x.size(1)}));
  TRY(require_row_statistic(name, "C3", "y", a.y, a.x.shape()));
  return require_epsilon(name, "C4", a.epsilon);
}

Cost BatchNorm::cost(const Arguments& a) {
  const auto count = static_cast<double>(a.x.count());
  return {.operations = 3 * count, .bytes_read = 4 * count, .bytes_written = 4 * count};
}

Tolerance BatchNorm::tolerance(const Arguments& a) {
  return {.epsilons = 4,
          .reason = "a rounded difference, scale and sum, measured against the terms that may cancel",
          .least_scale = largest_magnitude(a.beta) + largest_magnitude(a.gamma) * largest_magnitude(a.mean)};
}

std::span<const Variant<BatchNorm>> BatchNorm::variants() {
  static const Variant<BatchNorm> table[] = {
      batch_norm_cuda,
      INGOT_SIMD_ROWS(batch_norm_simd),
      {"reference", {}, batch_norm_reference},
  };
  return table;
}

template const Operation& describe_operation<BatchNorm>();

}  // namespace ingot
