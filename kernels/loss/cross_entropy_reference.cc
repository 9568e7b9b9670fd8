// Scalar truth, in double.
#include <cmath>

#include "kernels/loss/class_targets.h"

namespace ingot {
namespace {

double cross_entropy_log_sum_exp(const View<const float>& row) {
  double largest = -HUGE_VAL;
  for (std::int64_t c = 0; c < row.size(0); ++c) largest = std::fmax(largest, double{row(c)});
  double sum = 0;
  for (std::int64_t c = 0; c < row.size(0); ++c) sum += std::exp(double{row(c)} - largest);
  return largest + std::log(sum);
}

}  // namespace

void cross_entropy_reference(const CrossEntropy::Arguments& a, Context&) {
  const ClassTargets targets = class_targets(a);
  const std::int64_t classes = a.logits.size(1);
  reduce_rows(targets, a.reduction, a.loss, [&](std::int64_t row) {
    const View<const float> x = a.logits[row];
    const double lse = cross_entropy_log_sum_exp(x);
    if (is_present(a.log_sum_exp)) a.log_sum_exp(row) = static_cast<float>(lse);
    if (targets.is_ignored(row)) return 0.0;
    const double smoothing = a.label_smoothing;
    double loss = (1 - smoothing) * targets.weight(row) * (lse - x(targets.targets(row)));
    if (smoothing == 0) return loss;
    for (std::int64_t c = 0; c < classes; ++c) {
      loss += smoothing / static_cast<double>(classes) * targets.weight_of_class(c) * (lse - x(c));
    }
    return loss;
  });
}

void cross_entropy_backward_reference(const CrossEntropyBackward::Arguments& a, Context&) {
  const ClassTargets targets = class_targets(a);
  const std::int64_t classes = a.logits.size(1);
  const double divisor = targets.divisor(a.reduction);
  const double smoothing = a.label_smoothing;
  double all_weights = 0;
  for (std::int64_t c = 0; c < classes; ++c) all_weights += targets.weight_of_class(c);
  for (std::int64_t row = 0; row < targets.count(); ++row) {
    const double upstream = double{a.reduction == Reduction::none ? a.dloss(row) : a.dloss(0)} / divisor;
    for (std::int64_t c = 0; c < classes; ++c) {
      if (targets.is_ignored(row)) {
        a.dlogits(row, c) = 0;
        continue;
      }
      const double p = std::exp(double{a.logits(row, c)} - a.log_sum_exp(row));
      const double hit = c == targets.targets(row) ? 1 : 0;
      const double hard = (1 - smoothing) * targets.weight(row) * (p - hit);
      const double soft = smoothing / static_cast<double>(classes) * (p * all_weights - targets.weight_of_class(c));
      a.dlogits(row, c) = static_cast<float>(upstream * (hard + soft));
    }
  }
}

}  // namespace ingot
