// What the class losses share: who is ignored, what a class weighs, how rows become one number.
#pragma once

#include "kernels/loss/cross_entropy.h"

namespace ingot {

struct ClassTargets {
  View<const std::int32_t> targets;
  View<const float> class_weights;
  std::int32_t ignore_index;

  std::int64_t count() const { return targets.size(0); }
  bool is_ignored(std::int64_t row) const { return targets(row) == ignore_index; }
  float weight_of_class(std::int64_t index) const { return is_present(class_weights) ? class_weights(index) : 1.0f; }
  // The weight of a row's target; 0 where it is ignored.
  double weight(std::int64_t row) const { return is_ignored(row) ? 0.0 : double{weight_of_class(targets(row))}; }
  double total_weight() const {
    double total = 0;
    for (std::int64_t row = 0; row < count(); ++row) total += weight(row);
    return total;
  }
  // What the summed rows are divided by.
  double divisor(Reduction reduction) const {
    if (reduction != Reduction::mean) return 1;
    const double total = total_weight();
    return total == 0 ? 1 : total;
  }
};

template <class Arguments>
ClassTargets class_targets(const Arguments& arguments) {
  return {arguments.targets, arguments.class_weights, arguments.ignore_index};
}

// Constraints C1 to C3 and the reduction, common to all class losses.
Result<void> check_class_targets(std::string_view operation, const View<const float>& scores,
                                 const ClassTargets& targets, Reduction reduction);
// loss or dloss: [R] for none, [1] otherwise, contiguous.
Result<void> check_loss_shape(std::string_view operation, std::string_view field, const ConstAnyView& loss,
                              std::int64_t rows, Reduction reduction);

// Rows to loss; rows are added in order, in double, so that the sum does not depend on threads.
template <class RowLoss>
void reduce_rows(const ClassTargets& targets, Reduction reduction, const View<float>& loss, RowLoss&& row_loss) {
  double sum = 0;
  for (std::int64_t row = 0; row < targets.count(); ++row) {
    const double value = row_loss(row);
    if (reduction == Reduction::none) loss(row) = static_cast<float>(value);
    sum += value;
  }
  if (reduction != Reduction::none) loss(0) = static_cast<float>(sum / targets.divisor(reduction));
}

}  // namespace ingot
