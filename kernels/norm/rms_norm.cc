#include "kernels/norm/rms_norm.h"

#include "kernels/contract/describe.h"
#include "kernels/norm/rms_norm_cases.h"
#include "kernels/norm/shapes.h"

namespace ingot {
Result<void> RmsNorm::check(const Arguments& a) {
  TRY(require_normalised_axis(name, "C1", a.x));
  TRY(require_rows(name, "C2", "gamma", a.gamma, {a.x.shape().last()}));
  TRY(require_rows(name, "C3", "y", a.y, a.x.shape()));
  if (is_present(a.rstd)) TRY(require_row_statistic(name, "C4", "rstd", a.rstd, without_last_axis(a.x.shape())));
  return require_epsilon(name, "C5", a.epsilon);
}

Cost RmsNorm::cost(const Arguments& a) {
  const auto count = static_cast<double>(a.x.count());
  return {.operations = 4 * count,
          .bytes_read = 4 * (count + static_cast<double>(a.gamma.count())),
          .bytes_written = 4 * count};
}

Tolerance RmsNorm::tolerance(const Arguments&) {
  return {.epsilons = 4,
          .reason = "two roundings a product, and half the relative error of a float sum of squares over many lanes"};
}

std::span<const Variant<RmsNorm>> RmsNorm::variants() {
  static const Variant<RmsNorm> table[] = {
      rms_norm_cuda,
      INGOT_SIMD_ROWS(rms_norm_simd),
      {"reference", {}, rms_norm_reference},
  };
  return table;
}

Result<void> RmsNormBackward::check(const Arguments& a) {
  TRY(require_normalised_axis(name, "C1", a.x));
  TRY(require_rows(name, "C2", "gamma", a.gamma, {a.x.shape().last()}));
  TRY(require_rows(name, "C2", "dgamma", a.dgamma, {a.x.shape().last()}));
  TRY(require_rows(name, "C3", "dy", a.dy, a.x.shape()));
  TRY(require_rows(name, "C3", "dx", a.dx, a.x.shape()));
  return require_row_statistic(name, "C4", "rstd", a.rstd, without_last_axis(a.x.shape()));
}

Cost RmsNormBackward::cost(const Arguments& a) {
  const auto count = static_cast<double>(a.x.count());
  return {.operations = 9 * count, .bytes_read = 4 * 2 * count, .bytes_written = 4 * count};
}

Tolerance RmsNormBackward::tolerance(const Arguments& a) {
  return {.epsilons = 8,
          .scale = ErrorScale::row,
          .reason = "a difference of two terms that may cancel, measured against the row's largest gradient or term",
          .least_scale = largest_magnitude(a.rstd) * largest_magnitude(a.gamma) * largest_magnitude(a.dy),
          .of_fields = {{{"dgamma", largest_magnitude(a.dy) * largest_magnitude(a.x) * largest_magnitude(a.rstd)}}}};
}

std::span<const Variant<RmsNormBackward>> RmsNormBackward::variants() {
  static const Variant<RmsNormBackward> table[] = {
      INGOT_SIMD_ROWS(rms_norm_backward_simd, nullptr, rms_norm_backward_scratch),
      {"reference", {}, rms_norm_backward_reference},
  };
  return table;
}

std::size_t rms_norm_backward_scratch(const RmsNormBackward::Arguments& a, int) { return partial_rows_bytes(a.x, 3); }

template const Operation& describe_operation<RmsNorm>();
template const Operation& describe_operation<RmsNormBackward>();

}  // namespace ingot
