#include "kernels/norm/qk_norm.h"

#include "kernels/contract/describe.h"
#include "kernels/norm/qk_norm_cases.h"
#include "kernels/norm/shapes.h"

namespace ingot {
namespace {

// C1 of both directions.
Result<void> require_heads(std::string_view operation, const View<const float>& q, const View<const float>& k) {
  TRY(require_rank(operation, "C1", "q", q, 3));
  if (q.shape().last() < 1) return violated(operation, "C1", "expected heads of 1 or more, found q ", q.shape());
  TRY(require_contiguous_rows(operation, "C1", "q", q));
  TRY(require_rank(operation, "C1", "k", k, 3));
  return require_rows(operation, "C1", "k", k, {q.size(0), k.size(1), q.size(2)});
}

Cost sum_of(const Cost& first, const Cost& second) {
  return {first.operations + second.operations, first.bytes_read + second.bytes_read,
          first.bytes_written + second.bytes_written};
}

void qk_norm_reference(const QkNorm::Arguments& a, Context& context) {
  rms_norm_reference(a.queries(), context);
  rms_norm_reference(a.keys(), context);
}

void qk_norm_backward_reference(const QkNormBackward::Arguments& a, Context& context) {
  rms_norm_backward_reference(a.queries(), context);
  rms_norm_backward_reference(a.keys(), context);
}

// Queries and keys take turns with the same scratch.
std::size_t qk_norm_backward_scratch(const QkNormBackward::Arguments& a, int threads) {
  return std::max(rms_norm_backward_scratch(a.queries(), threads), rms_norm_backward_scratch(a.keys(), threads));
}

}  // namespace

Result<void> QkNorm::check(const Arguments& a) {
  TRY(require_heads(name, a.q, a.k));
  TRY(require_rows(name, "C2", "q_gamma", a.q_gamma, {a.q.size(2)}));
  TRY(require_rows(name, "C2", "k_gamma", a.k_gamma, {a.q.size(2)}));
  TRY(require_rows(name, "C3", "q_out", a.q_out, a.q.shape()));
  TRY(require_rows(name, "C3", "k_out", a.k_out, a.k.shape()));
  if (is_present(a.q_rstd)) TRY(require_row_statistic(name, "C4", "q_rstd", a.q_rstd, without_last_axis(a.q.shape())));
  if (is_present(a.k_rstd)) TRY(require_row_statistic(name, "C4", "k_rstd", a.k_rstd, without_last_axis(a.k.shape())));
  return require_epsilon(name, "C5", a.epsilon);
}

Cost QkNorm::cost(const Arguments& a) { return sum_of(RmsNorm::cost(a.queries()), RmsNorm::cost(a.keys())); }

Tolerance QkNorm::tolerance(const Arguments& a) { return RmsNorm::tolerance(a.queries()); }

std::span<const Variant<QkNorm>> QkNorm::variants() {
  static const Variant<QkNorm> table[] = {
      qk_norm_cuda,
      INGOT_SIMD_ROWS(qk_norm_simd),
      {"reference", {}, qk_norm_reference},
  };
  return table;
}

Result<void> QkNormBackward::check(const Arguments& a) {
  TRY(require_heads(name, a.q, a.k));
  const Shape width = {a.q.size(2)};
  TRY(require_rows(name, "C2", "q_gamma", a.q_gamma, width));
  TRY(require_rows(name, "C2", "k_gamma", a.k_gamma, width));
  TRY(require_rows(name, "C2", "dq_gamma", a.dq_gamma, width));
  TRY(require_rows(name, "C2", "dk_gamma", a.dk_gamma, width));
  TRY(require_rows(name, "C3", "dq_out", a.dq_out, a.q.shape()));
  TRY(require_rows(name, "C3", "dq", a.dq, a.q.shape()));
  TRY(require_rows(name, "C3", "dk_out", a.dk_out, a.k.shape()));
  TRY(require_rows(name, "C3", "dk", a.dk, a.k.shape()));
  TRY(require_row_statistic(name, "C4", "q_rstd", a.q_rstd, without_last_axis(a.q.shape())));
  return require_row_statistic(name, "C4", "k_rstd", a.k_rstd, without_last_axis(a.k.shape()));
}

Cost QkNormBackward::cost(const Arguments& a) {
  return sum_of(RmsNormBackward::cost(a.queries()), RmsNormBackward::cost(a.keys()));
}

Tolerance QkNormBackward::tolerance(const Arguments& a) {
  Tolerance tolerance = RmsNormBackward::tolerance(a.queries());
  const Tolerance of_keys = RmsNormBackward::tolerance(a.keys());
  tolerance.least_scale = std::max(tolerance.least_scale, of_keys.least_scale);
  tolerance.of_fields = {
      {{"dq_gamma", tolerance.least_scale_of("dgamma")}, {"dk_gamma", of_keys.least_scale_of("dgamma")}}};
  return tolerance;
}

std::span<const Variant<QkNormBackward>> QkNormBackward::variants() {
  static const Variant<QkNormBackward> table[] = {
      INGOT_SIMD_ROWS(qk_norm_backward_simd, nullptr, qk_norm_backward_scratch),
      {"reference", {}, qk_norm_backward_reference},
  };
  return table;
}

template const Operation& describe_operation<QkNorm>();
template const Operation& describe_operation<QkNormBackward>();

}  // namespace ingot
