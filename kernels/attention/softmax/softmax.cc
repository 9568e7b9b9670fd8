#include "kernels/attention/softmax/softmax.h"

#include <cmath>

#include "kernels/attention/softmax/softmax_cases.h"
#include "kernels/contract/describe.h"
#include "kernels/contract/magnitude.h"

namespace ingot {
namespace {

Result<void> require_repeats(std::string_view operation, std::string_view number, std::string_view field,
                             const View<const float>& view, const Shape& target) {
  const Result<View<const float>> repeated = view.broadcast_to(target);
  if (repeated.ok()) return {};
  return violated(operation, number, "expected ", field, " that repeats to ", target, ", found ", view.shape());
}

}  // namespace

Result<void> Softmax::check(const Arguments& a) {
  TRY(require_mask_kind(name, "C7", a.mask_kind));
  TRY(require_rank_between(name, "C1", "x", a.x, a.mask_kind == MaskKind::causal ? 2 : 1, max_rank));
  const Shape rows = shape_of_rows(a.x.shape());
  TRY(require_shape(name, "C2", "y", a.y, a.x.shape()));
  TRY(require_contiguous_rows(name, "C3", "x", a.x));
  TRY(require_contiguous_rows(name, "C3", "y", a.y));
  if (is_present(a.mask)) {
    TRY(require_repeats(name, "C4", "mask", a.mask, a.x.shape()));
    TRY(require_contiguous_rows(name, "C4", "mask", a.mask));
  }
  if (is_present(a.sinks)) TRY(require_repeats(name, "C5", "sinks", a.sinks, rows));
  if (is_present(a.log_sum_exp)) {
    TRY(require_shape(name, "C6", "log_sum_exp", a.log_sum_exp, rows));
    TRY(require_contiguous(name, "C6", "log_sum_exp", a.log_sum_exp));
  }
  TRY(require_finite(name, "C7", "scale", a.scale));
  return require_position(name, "C7", "query_offset", -position_limit, a.query_offset);
}

Cost Softmax::cost(const Arguments& a) {
  const auto count = static_cast<double>(a.x.count());
  const double masked = is_present(a.mask) ? static_cast<double>(a.mask.count()) : 0;
  // Scale, maximum, subtract, the exponential's 12, sum, normalise.
  return {.operations = 17 * count, .bytes_read = 4 * (count + masked), .bytes_written = 4 * count};
}

Tolerance Softmax::tolerance(const Arguments&) {
  return {.epsilons = 16,
          .scale = ErrorScale::tensor,
          .reason =
              "an exponential turns the rounding of a score into that of its weight, and a log-sum-exp near 0 is "
              "what two larger numbers leave"};
}

std::span<const Variant<Softmax>> Softmax::variants() {
  static const Variant<Softmax> table[] = {
      softmax_cuda,
      INGOT_SIMD_ROWS(softmax_simd),
      {"reference", {}, softmax_reference},
  };
  return table;
}

Result<void> SoftmaxBackward::check(const Arguments& a) {
  TRY(require_rank_between(name, "C1", "y", a.y, 1, max_rank));
  const Shape rows = shape_of_rows(a.y.shape());
  TRY(require_shape(name, "C2", "dy", a.dy, a.y.shape()));
  TRY(require_shape(name, "C2", "dx", a.dx, a.y.shape()));
  TRY(require_contiguous_rows(name, "C3", "y", a.y));
  TRY(require_contiguous_rows(name, "C3", "dy", a.dy));
  TRY(require_contiguous_rows(name, "C3", "dx", a.dx));
  if (is_present(a.dsinks)) {
    if (!is_present(a.sinks)) return violated(name, "C4", "expected sinks beside dsinks, found none");
    if (!is_present(a.log_sum_exp)) return violated(name, "C4", "expected log_sum_exp beside dsinks, found none");
    TRY(require_shape(name, "C4", "dsinks", a.dsinks, a.sinks.shape()));
  }
  if (is_present(a.sinks)) TRY(require_repeats(name, "C5", "sinks", a.sinks, rows));
  if (is_present(a.log_sum_exp)) {
    TRY(require_shape(name, "C6", "log_sum_exp", a.log_sum_exp, rows));
    TRY(require_contiguous(name, "C6", "log_sum_exp", a.log_sum_exp));
  }
  return require_finite(name, "C7", "scale", a.scale);
}

Cost SoftmaxBackward::cost(const Arguments& a) {
  const auto count = static_cast<double>(a.y.count());
  return {.operations = 5 * count, .bytes_read = 8 * count, .bytes_written = 4 * count};
}

Tolerance SoftmaxBackward::tolerance(const Arguments& a) {
  return {.epsilons = 32 + std::sqrt(static_cast<double>(a.y.shape().last())) / 2,
          .scale = ErrorScale::row,
          .reason =
              "a row's sum may cancel, so its rounding follows the square root of its terms; measured against the "
              "row's largest gradient, and a sink's, which sums many rows, against the largest dy",
          .least_scale = is_present(a.dsinks) ? largest_magnitude(a.dy) : 0};
}

std::size_t softmax_backward_scratch_bytes(const SoftmaxBackward::Arguments& a, int) {
  return is_present(a.dsinks) ? static_cast<std::size_t>(a.log_sum_exp.count()) * sizeof(float) : 0;
}

std::span<const Variant<SoftmaxBackward>> SoftmaxBackward::variants() {
  static const Variant<SoftmaxBackward> table[] = {
      INGOT_SIMD_ROWS(softmax_backward_simd, nullptr, softmax_backward_scratch_bytes),
      {"reference", {}, softmax_backward_reference},
  };
  return table;
}

template const Operation& describe_operation<Softmax>();
template const Operation& describe_operation<SoftmaxBackward>();

}  // namespace ingot
