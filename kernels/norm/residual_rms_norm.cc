#include "kernels/norm/residual_rms_norm.h"

#include "kernels/contract/describe.h"
#include "kernels/norm/residual_rms_norm_cases.h"
#include "kernels/norm/shapes.h"

namespace ingot {

Result<void> ResidualRmsNorm::check(const Arguments& a) {
  TRY(require_normalised_axis(name, "C1", a.x));
  TRY(require_rows(name, "C2", "gamma", a.gamma, {a.x.shape().last()}));
  TRY(require_rows(name, "C3", "residual", a.residual, a.x.shape()));
  TRY(require_rows(name, "C3", "sum", a.sum, a.x.shape()));
  TRY(require_rows(name, "C3", "y", a.y, a.x.shape()));
  if (is_present(a.rstd)) TRY(require_row_statistic(name, "C4", "rstd", a.rstd, without_last_axis(a.x.shape())));
  return require_epsilon(name, "C5", a.epsilon);
}

Cost ResidualRmsNorm::cost(const Arguments& a) {
  const auto count = static_cast<double>(a.x.count());
  return {.operations = 5 * count,
          .bytes_read = 4 * (2 * count + static_cast<double>(a.gamma.count())),
          .bytes_written = 8 * count};
}

Tolerance ResidualRmsNorm::tolerance(const Arguments&) {
  return {.epsilons = 4,
          .reason =
              "two roundings a product, and half the relative error of a float sum of squares over many lanes; "
              "x + residual itself is rounded once, by everyone alike"};
}

std::span<const Variant<ResidualRmsNorm>> ResidualRmsNorm::variants() {
  static const Variant<ResidualRmsNorm> table[] = {
      residual_rms_norm_cuda,
      INGOT_SIMD_ROWS(residual_rms_norm_simd),
      {"reference", {}, residual_rms_norm_reference},
  };
  return table;
}

Result<void> ResidualRmsNormBackward::check(const Arguments& a) {
  TRY(require_normalised_axis(name, "C1", a.sum));
  const Shape& shape = a.sum.shape();
  TRY(require_rows(name, "C2", "gamma", a.gamma, {shape.last()}));
  TRY(require_rows(name, "C2", "dgamma", a.dgamma, {shape.last()}));
  TRY(require_rows(name, "C3", "dy", a.dy, shape));
  if (is_present(a.dsum)) TRY(require_rows(name, "C3", "dsum", a.dsum, shape));
  TRY(require_rows(name, "C3", "dx", a.dx, shape));
  if (is_present(a.dresidual)) TRY(require_rows(name, "C3", "dresidual", a.dresidual, shape));
  return require_row_statistic(name, "C4", "rstd", a.rstd, without_last_axis(shape));
}

Cost ResidualRmsNormBackward::cost(const Arguments& a) {
  const auto count = static_cast<double>(a.sum.count());
  const double reads = is_present(a.dsum) ? 3 : 2;
  const double writes = is_present(a.dresidual) ? 2 : 1;
  return {.operations = 10 * count, .bytes_read = 4 * reads * count, .bytes_written = 4 * writes * count};
}

Tolerance ResidualRmsNormBackward::tolerance(const Arguments& a) {
  return {.epsilons = 8,
          .scale = ErrorScale::row,
          .reason = "a difference of terms that may cancel, measured against the row's largest gradient or term",
          .least_scale = largest_magnitude(a.rstd) * largest_magnitude(a.gamma) * largest_magnitude(a.dy) +
                         largest_magnitude(a.dsum),
          .of_fields = {{{"dgamma", largest_magnitude(a.dy) * largest_magnitude(a.sum) * largest_magnitude(a.rstd)}}}};
}

// A row of zeros for a missing dsum, then a partial row of dgamma and a row for a missing dresidual a part.
std::size_t residual_rms_norm_backward_scratch(const ResidualRmsNormBackward::Arguments& a, int) {
  return sizeof(float) * static_cast<std::size_t>(a.sum.shape().last()) + partial_rows_bytes(a.sum, 5, 2);
}

std::span<const Variant<ResidualRmsNormBackward>> ResidualRmsNormBackward::variants() {
  static const Variant<ResidualRmsNormBackward> table[] = {
      INGOT_SIMD_ROWS(residual_rms_norm_backward_simd, nullptr, residual_rms_norm_backward_scratch),
      {"reference", {}, residual_rms_norm_backward_reference},
  };
  return table;
}

template const Operation& describe_operation<ResidualRmsNorm>();
template const Operation& describe_operation<ResidualRmsNormBackward>();

}  // namespace ingot
