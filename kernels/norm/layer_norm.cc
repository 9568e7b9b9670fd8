#include "kernels/norm/layer_norm.h"

#include "kernels/contract/describe.h"
#include "kernels/norm/layer_norm_cases.h"
#include "kernels/norm/shapes.h"

namespace ingot {

Result<void> LayerNorm::check(const Arguments& a) {
  TRY(require_normalised_axis(name, "C1", a.x));
  const Shape row = {a.x.shape().last()};
  const Shape rows = without_last_axis(a.x.shape());
  if (is_present(a.gamma)) TRY(require_rows(name, "C2", "gamma", a.gamma, row));
  if (is_present(a.beta)) TRY(require_rows(name, "C2", "beta", a.beta, row));
  TRY(require_rows(name, "C3", "y", a.y, a.x.shape()));
  if (is_present(a.mean)) TRY(require_row_statistic(name, "C4", "mean", a.mean, rows));
  if (is_present(a.rstd)) TRY(require_row_statistic(name, "C4", "rstd", a.rstd, rows));
  return require_epsilon(name, "C5", a.epsilon);
}

Cost LayerNorm::cost(const Arguments& a) {
  const auto count = static_cast<double>(a.x.count());
  const auto parameters =
      static_cast<double>((is_present(a.gamma) ? a.gamma.count() : 0) + (is_present(a.beta) ? a.beta.count() : 0));
  return {.operations = 8 * count, .bytes_read = 4 * (count + parameters), .bytes_written = 4 * count};
}

Tolerance LayerNorm::tolerance(const Arguments& a) {
  const double gamma = is_present(a.gamma) ? largest_magnitude(a.gamma) : 1;
  return {
      .epsilons = 16,
      .scale = ErrorScale::row,
      .reason =
          "x - mean cancels: its error follows the row's largest number; so does the mean's, which is itself "
          "smaller by the root of the row's length",
      .least_scale = largest_magnitude(a.beta) + gamma * largest_before_centring(a.x, a.x.shape().last(), a.epsilon),
      .of_fields = {FieldScale{"mean", largest_magnitude(a.x)}}};
}

// A row of ones and one of zeros stand for what was left out.
std::size_t layer_norm_scratch(const LayerNorm::Arguments& a, int) {
  return 2 * sizeof(float) * static_cast<std::size_t>(a.x.shape().last());
}

std::span<const Variant<LayerNorm>> LayerNorm::variants() {
  static const Variant<LayerNorm> table[] = {
      layer_norm_cuda,
      INGOT_SIMD_ROWS(layer_norm_simd, nullptr, layer_norm_scratch),
      {"reference", {}, layer_norm_reference},
  };
  return table;
}

Result<void> LayerNormBackward::check(const Arguments& a) {
  TRY(require_normalised_axis(name, "C1", a.x));
  const Shape row = {a.x.shape().last()};
  const Shape rows = without_last_axis(a.x.shape());
  if (is_present(a.gamma)) TRY(require_rows(name, "C2", "gamma", a.gamma, row));
  if (is_present(a.dgamma)) TRY(require_rows(name, "C2", "dgamma", a.dgamma, row));
  if (is_present(a.dbeta)) TRY(require_rows(name, "C2", "dbeta", a.dbeta, row));
  TRY(require_rows(name, "C3", "dy", a.dy, a.x.shape()));
  TRY(require_rows(name, "C3", "dx", a.dx, a.x.shape()));
  TRY(require_row_statistic(name, "C4", "mean", a.mean, rows));
  return require_row_statistic(name, "C4", "rstd", a.rstd, rows);
}

Cost LayerNormBackward::cost(const Arguments& a) {
  const auto count = static_cast<double>(a.x.count());
  return {.operations = 14 * count, .bytes_read = 8 * count, .bytes_written = 4 * count};
}

Tolerance LayerNormBackward::tolerance(const Arguments& a) {
  const double gamma = is_present(a.gamma) ? largest_magnitude(a.gamma) : 1;
  const double deviation = largest_magnitude(a.x) + largest_magnitude(a.mean);
  return {.epsilons = 16,
          .scale = ErrorScale::row,
          .reason = "differences of terms that may cancel, measured against the row's largest gradient or term",
          .least_scale = std::max(1.0, largest_magnitude(a.rstd)) * gamma * largest_magnitude(a.dy),
          .of_fields = {{{"dgamma", largest_magnitude(a.dy) * deviation * largest_magnitude(a.rstd)},
                         {"dbeta", largest_magnitude(a.dy)}}}};
}

// A row of ones for a missing gamma, then two partial rows a part.
std::size_t layer_norm_backward_scratch(const LayerNormBackward::Arguments& a, int) {
  return sizeof(float) * static_cast<std::size_t>(a.x.shape().last()) + partial_rows_bytes(a.x, 3, 2);
}

std::span<const Variant<LayerNormBackward>> LayerNormBackward::variants() {
  static const Variant<LayerNormBackward> table[] = {
      INGOT_SIMD_ROWS(layer_norm_backward_simd, nullptr, layer_norm_backward_scratch),
      {"reference", {}, layer_norm_backward_reference},
  };
  return table;
}

template const Operation& describe_operation<LayerNorm>();
template const Operation& describe_operation<LayerNormBackward>();

}  // namespace ingot
