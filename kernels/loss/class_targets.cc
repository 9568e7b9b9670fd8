#include "kernels/loss/class_targets.h"

namespace ingot {
namespace {

// C2. Targets on a device are not read here: who puts them there vouches for them.
Result<void> check_target_classes(std::string_view operation, const ClassTargets& targets, std::int64_t classes) {
  if (!targets.targets.place().is_host()) return {};
  for (std::int64_t row = 0; row < targets.count(); ++row) {
    const std::int32_t target = targets.targets(row);
    if (target != targets.ignore_index && (target < 0 || target >= classes)) {
      return violated(operation, "C2", "expected targets in [0, ", classes, ") or ", targets.ignore_index, ", found ",
                      target, " in row ", row);
    }
  }
  return {};
}

}  // namespace

Result<void> check_class_targets(std::string_view operation, const View<const float>& scores,
                                 const ClassTargets& targets, Reduction reduction) {
  TRY(require_rank(operation, "C1", "scores", scores, 2));
  TRY(require_contiguous_rows(operation, "C1", "scores", scores));
  const std::int64_t classes = scores.size(1);
  if (classes < 1) return violated(operation, "C1", "expected at least one class, found shape ", scores.shape());
  TRY(require_shape(operation, "C1", "targets", targets.targets, {scores.size(0)}));
  TRY(check_target_classes(operation, targets, classes));
  if (is_present(targets.class_weights)) {
    TRY(require_shape(operation, "C3", "class_weights", targets.class_weights, {classes}));
    TRY(require_contiguous(operation, "C3", "class_weights", targets.class_weights));
  }
  if (reduction != Reduction::none && reduction != Reduction::sum && reduction != Reduction::mean) {
    return violated(operation, "C5", "expected reduction none (0), sum (1) or mean (2), found ",
                    static_cast<int>(reduction));
  }
  return {};
}

Result<void> check_loss_shape(std::string_view operation, std::string_view field, const ConstAnyView& loss,
                              std::int64_t rows, Reduction reduction) {
  TRY(require_shape(operation, "C4", field, loss, {reduction == Reduction::none ? rows : 1}));
  return require_contiguous(operation, "C4", field, loss);
}

}  // namespace ingot
