// A gather of one number a row: there is nothing for vectors to do, so the reference is the host's only variant.
#include "kernels/loss/negative_log_likelihood.h"

#include "kernels/contract/describe.h"
#include "kernels/loss/class_targets.h"
#include "kernels/loss/cross_entropy_cases.h"

namespace ingot {
namespace {

void negative_log_likelihood_reference(const NegativeLogLikelihood::Arguments& a, Context&) {
  const ClassTargets targets = class_targets(a);
  reduce_rows(targets, a.reduction, a.loss, [&](std::int64_t row) {
    if (targets.is_ignored(row)) return 0.0;
    return -targets.weight(row) * a.log_probabilities(row, targets.targets(row));
  });
}

void negative_log_likelihood_backward_reference(const NegativeLogLikelihoodBackward::Arguments& a, Context&) {
  const ClassTargets targets = class_targets(a);
  const double divisor = targets.divisor(a.reduction);
  for (std::int64_t row = 0; row < targets.count(); ++row) {
    const double upstream = double{a.reduction == Reduction::none ? a.dloss(row) : a.dloss(0)} / divisor;
    for (std::int64_t c = 0; c < a.dlog_probabilities.size(1); ++c) {
      const bool hit = !targets.is_ignored(row) && c == targets.targets(row);
      a.dlog_probabilities(row, c) = hit ? static_cast<float>(-upstream * targets.weight(row)) : 0.0f;
    }
  }
}

}  // namespace

Result<void> NegativeLogLikelihood::check(const Arguments& a) {
  TRY(check_class_targets(name, a.log_probabilities, class_targets(a), a.reduction));
  return check_loss_shape(name, "loss", a.loss, a.log_probabilities.size(0), a.reduction);
}

Cost NegativeLogLikelihood::cost(const Arguments& a) {
  const auto rows = static_cast<double>(a.targets.count());
  return {.operations = 2 * rows, .bytes_read = 8 * rows, .bytes_written = 4 * static_cast<double>(a.loss.count())};
}

Tolerance NegativeLogLikelihood::tolerance(const Arguments&) {
  return {.epsilons = 1, .reason = "one rounding of a sum in double"};
}

std::span<const Variant<NegativeLogLikelihood>> NegativeLogLikelihood::variants() {
  static const Variant<NegativeLogLikelihood> table[] = {
      negative_log_likelihood_cuda,
      {"reference", {}, negative_log_likelihood_reference},
  };
  return table;
}

void NegativeLogLikelihood::cases(CaseList<NegativeLogLikelihood>& list) {
  auto build = [](ClassLossShape shape) {
    return [shape](CaseBuilder& builder) {
      Arguments a;
      a.log_probabilities = builder.filled({shape.rows, shape.classes});
      fill_class_targets(builder, shape, a);
      a.loss = builder.blank({shape.reduction == Reduction::none ? shape.rows : 1}, Packing::contiguous);
      return a;
    };
  };
  for (const auto& [name, shape] : class_loss_shapes) list.parity(name, build(shape));
  list.gradient("3 x 4 mean", build({3, 4, Reduction::mean, 0, true, 1}));
  list.gradient("3 x 4 none", build({3, 4, Reduction::none}));
  list.benchmark("256 x 32000", build({256, 32000}));
}

Result<void> NegativeLogLikelihoodBackward::check(const Arguments& a) {
  TRY(check_class_targets(name, a.dlog_probabilities, class_targets(a), a.reduction));
  return check_loss_shape(name, "dloss", a.dloss, a.dlog_probabilities.size(0), a.reduction);
}

Cost NegativeLogLikelihoodBackward::cost(const Arguments& a) {
  return {.operations = 0,
          .bytes_read = 4 * static_cast<double>(a.targets.count()),
          .bytes_written = 4 * static_cast<double>(a.dlog_probabilities.count())};
}

Tolerance NegativeLogLikelihoodBackward::tolerance(const Arguments&) {
  return {.epsilons = 1, .reason = "one rounding of a product in double"};
}

std::span<const Variant<NegativeLogLikelihoodBackward>> NegativeLogLikelihoodBackward::variants() {
  static const Variant<NegativeLogLikelihoodBackward> table[] = {
      {"reference", {}, negative_log_likelihood_backward_reference}};
  return table;
}

void NegativeLogLikelihoodBackward::cases(CaseList<NegativeLogLikelihoodBackward>& list) {
  auto build = [](ClassLossShape shape) {
    return [shape](CaseBuilder& builder) {
      Arguments a;
      fill_class_targets(builder, shape, a);
      a.dloss =
          builder.filled({shape.reduction == Reduction::none ? shape.rows : 1}, Fill::values(), Packing::contiguous);
      a.dlog_probabilities = builder.blank({shape.rows, shape.classes});
      return a;
    };
  };
  for (const auto& [name, shape] : class_loss_shapes) list.parity(name, build(shape));
  list.benchmark("256 x 32000", build({256, 32000}));
}

template const Operation& describe_operation<NegativeLogLikelihood>();
template const Operation& describe_operation<NegativeLogLikelihoodBackward>();

}  // namespace ingot
