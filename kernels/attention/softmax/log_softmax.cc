#include "kernels/attention/softmax/log_softmax.h"

#include <cmath>

#include "kernels/attention/softmax/log_softmax_cases.h"
#include "kernels/contract/describe.h"

namespace ingot {

Result<void> LogSoftmax::check(const Arguments& a) {
  TRY(require_rank_between(name, "C1", "x", a.x, 1, max_rank));
  TRY(require_shape(name, "C2", "y", a.y, a.x.shape()));
  TRY(require_contiguous_rows(name, "C3", "x", a.x));
  return require_contiguous_rows(name, "C3", "y", a.y);
}

Cost LogSoftmax::cost(const Arguments& a) {
  const auto count = static_cast<double>(a.x.count());
  return {.operations = 16 * count, .bytes_read = 4 * count, .bytes_written = 4 * count};
}

Tolerance LogSoftmax::tolerance(const Arguments&) {
  return {
      .epsilons = 4,
      .scale = ErrorScale::row,
      .reason = "near 0 (a weight near 1) the result is what two larger numbers leave, so the row's largest counts"};
}

std::span<const Variant<LogSoftmax>> LogSoftmax::variants() {
  static const Variant<LogSoftmax> table[] = {
      log_softmax_cuda,
      INGOT_SIMD_ROWS(log_softmax_simd),
      {"reference", {}, log_softmax_reference},
  };
  return table;
}

Result<void> LogSoftmaxBackward::check(const Arguments& a) {
  TRY(require_rank_between(name, "C1", "y", a.y, 1, max_rank));
  TRY(require_shape(name, "C2", "dy", a.dy, a.y.shape()));
  TRY(require_shape(name, "C2", "dx", a.dx, a.y.shape()));
  TRY(require_contiguous_rows(name, "C3", "y", a.y));
  TRY(require_contiguous_rows(name, "C3", "dy", a.dy));
  return require_contiguous_rows(name, "C3", "dx", a.dx);
}

Cost LogSoftmaxBackward::cost(const Arguments& a) {
  const auto count = static_cast<double>(a.y.count());
  return {.operations = 15 * count, .bytes_read = 8 * count, .bytes_written = 4 * count};
}

Tolerance LogSoftmaxBackward::tolerance(const Arguments& a) {
  return {.epsilons = 32 + std::sqrt(static_cast<double>(a.y.shape().last())) / 2,
          .scale = ErrorScale::row,
          .reason =
              "a row's sum may cancel, so its rounding follows the square root of its terms; measured against the "
              "row's largest gradient"};
}

std::span<const Variant<LogSoftmaxBackward>> LogSoftmaxBackward::variants() {
  static const Variant<LogSoftmaxBackward> table[] = {
      INGOT_SIMD_ROWS(log_softmax_backward_simd),
      {"reference", {}, log_softmax_backward_reference},
  };
  return table;
}

template const Operation& describe_operation<LogSoftmax>();
template const Operation& describe_operation<LogSoftmaxBackward>();

}  // namespace ingot
