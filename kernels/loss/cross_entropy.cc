#include "kernels/loss/cross_entropy.h"

#include "kernels/contract/describe.h"
#include "kernels/loss/class_targets.h"
#include "kernels/loss/cross_entropy_cases.h"

namespace ingot {
namespace {

Result<void> check_label_smoothing(std::string_view operation, float smoothing) {
  if (smoothing >= 0 && smoothing <= 1) return {};
  return violated(operation, "C5", "expected label_smoothing in [0, 1], found a value outside of it");
}

}  // namespace

Result<void> CrossEntropy::check(const Arguments& a) {
  TRY(check_class_targets(name, a.logits, class_targets(a), a.reduction));
  TRY(check_loss_shape(name, "loss", a.loss, a.logits.size(0), a.reduction));
  if (is_present(a.log_sum_exp)) {
    TRY(require_shape(name, "C4", "log_sum_exp", a.log_sum_exp, {a.logits.size(0)}));
    TRY(require_contiguous(name, "C4", "log_sum_exp", a.log_sum_exp));
  }
  return check_label_smoothing(name, a.label_smoothing);
}

Cost CrossEntropy::cost(const Arguments& a) {
  const auto count = static_cast<double>(a.logits.count());
  return {.operations = 12 * count, .bytes_read = 4 * count, .bytes_written = 4 * static_cast<double>(a.loss.count())};
}

Tolerance CrossEntropy::tolerance(const Arguments&) {
  return {.epsilons = 16,
          .reason = "a float sum of exponentials, of which the logarithm is taken: absolute near one",
          .least_scale = 1};
}

std::span<const Variant<CrossEntropy>> CrossEntropy::variants() {
  static constexpr auto row_losses = [](const Arguments& a, int) {
    return static_cast<std::size_t>(a.logits.size(0)) * sizeof(double);
  };
  static const Variant<CrossEntropy> table[] = {
      cross_entropy_cuda,
      INGOT_SIMD_ROWS(cross_entropy_simd, nullptr, row_losses),
      {"reference", {}, cross_entropy_reference},
  };
  return table;
}

Result<void> CrossEntropyBackward::check(const Arguments& a) {
  TRY(check_class_targets(name, a.logits, class_targets(a), a.reduction));
  TRY(check_loss_shape(name, "dloss", a.dloss, a.logits.size(0), a.reduction));
  TRY(require_shape(name, "C4", "log_sum_exp", a.log_sum_exp, {a.logits.size(0)}));
  TRY(require_shape(name, "C4", "dlogits", a.dlogits, a.logits.shape()));
  TRY(require_contiguous_rows(name, "C4", "dlogits", a.dlogits));
  return check_label_smoothing(name, a.label_smoothing);
}

Cost CrossEntropyBackward::cost(const Arguments& a) {
  const auto count = static_cast<double>(a.logits.count());
  return {.operations = 13 * count, .bytes_read = 4 * count, .bytes_written = 4 * count};
}

Tolerance CrossEntropyBackward::tolerance(const Arguments&) {
  return {.epsilons = 16,
          .scale = ErrorScale::row,
          .reason = "probabilities relative to log_sum_exp, less a constant: measured against the row's largest"};
}

std::span<const Variant<CrossEntropyBackward>> CrossEntropyBackward::variants() {
  static const Variant<CrossEntropyBackward> table[] = {
      INGOT_SIMD_ROWS(cross_entropy_backward_simd),
      {"reference", {}, cross_entropy_backward_reference},
  };
  return table;
}

template const Operation& describe_operation<CrossEntropy>();
template const Operation& describe_operation<CrossEntropyBackward>();

}  // namespace ingot
