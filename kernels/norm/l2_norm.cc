#include "kernels/norm/l2_norm.h"

#include "kernels/contract/describe.h"
#include "kernels/norm/l2_norm_cases.h"
#include "kernels/norm/shapes.h"

namespace ingot {

Result<void> L2Norm::check(const Arguments& a) {
  TRY(require_normalised_axis(name, "C1", a.x));
  TRY(require_rows(name, "C2", "y", a.y, a.x.shape()));
  if (is_present(a.rstd)) TRY(require_row_statistic(name, "C3", "rstd", a.rstd, without_last_axis(a.x.shape())));
  return require_epsilon(name, "C4", a.epsilon);
}

Cost L2Norm::cost(const Arguments& a) {
  const auto count = static_cast<double>(a.x.count());
  return {.operations = 3 * count, .bytes_read = 4 * count, .bytes_written = 4 * count};
}

Tolerance L2Norm::tolerance(const Arguments&) {
  return {.epsilons = 4,
          .reason = "one rounded product, and half the relative error of a float sum of squares over many lanes"};
}

std::span<const Variant<L2Norm>> L2Norm::variants() {
  static const Variant<L2Norm> table[] = {
      l2_norm_cuda,
      INGOT_SIMD_ROWS(l2_norm_simd),
      {"reference", {}, l2_norm_reference},
  };
  return table;
}

Result<void> L2NormBackward::check(const Arguments& a) {
  TRY(require_normalised_axis(name, "C1", a.x));
  TRY(require_rows(name, "C2", "dy", a.dy, a.x.shape()));
  TRY(require_rows(name, "C2", "dx", a.dx, a.x.shape()));
  return require_row_statistic(name, "C3", "rstd", a.rstd, without_last_axis(a.x.shape()));
}

Cost L2NormBackward::cost(const Arguments& a) {
  const auto count = static_cast<double>(a.x.count());
  return {.operations = 5 * count, .bytes_read = 8 * count, .bytes_written = 4 * count};
}

Tolerance L2NormBackward::tolerance(const Arguments& a) {
  return {.epsilons = 8,
          .scale = ErrorScale::row,
          .reason = "a difference of two terms that may cancel, measured against the row's largest gradient or term",
          .least_scale = largest_magnitude(a.rstd) * largest_magnitude(a.dy)};
}

std::span<const Variant<L2NormBackward>> L2NormBackward::variants() {
  static const Variant<L2NormBackward> table[] = {
      INGOT_SIMD_ROWS(l2_norm_backward_simd),
      {"reference", {}, l2_norm_backward_reference},
  };
  return table;
}

template const Operation& describe_operation<L2Norm>();
template const Operation& describe_operation<L2NormBackward>();

}  // namespace ingot
