#include "kernels/loss/mean_squared_error.h"

#include "kernels/contract/describe.h"
#include "kernels/loss/mean_squared_error_cases.h"
#include "tensor/rows.h"

namespace ingot {
namespace {

// C1 to C3 of both directions; `loss` is the loss or its gradient.
Result<void> check_squared_error(std::string_view operation, const View<const float>& x,
                                 const View<const float>& target, std::string_view loss_field, const ConstAnyView& loss,
                                 Reduction reduction) {
  TRY(require_rank_between(operation, "C1", "x", x, 1, max_rank));
  TRY(require_shape(operation, "C1", "target", target, x.shape()));
  TRY(require_contiguous_rows(operation, "C1", "x", x));
  TRY(require_contiguous_rows(operation, "C1", "target", target));
  if (reduction != Reduction::none && reduction != Reduction::sum && reduction != Reduction::mean) {
    return violated(operation, "C3", "expected reduction none (0), sum (1) or mean (2), found ",
                    static_cast<int>(reduction));
  }
  TRY(require_shape(operation, "C2", loss_field, loss, reduction == Reduction::none ? x.shape() : Shape{1}));
  TRY(require_contiguous_rows(operation, "C2", loss_field, loss));
  if (reduction == Reduction::mean && x.empty()) {
    return violated(operation, "C3", "expected at least one element to take the mean of, found shape ", x.shape());
  }
  return {};
}

}  // namespace

Result<void> MeanSquaredError::check(const Arguments& a) {
  return check_squared_error(name, a.x, a.target, "loss", a.loss, a.reduction);
}

Cost MeanSquaredError::cost(const Arguments& a) {
  const auto count = static_cast<double>(a.x.count());
  return {.operations = 3 * count, .bytes_read = 8 * count, .bytes_written = 4 * static_cast<double>(a.loss.count())};
}

Tolerance MeanSquaredError::tolerance(const Arguments&) {
  return {.epsilons = 16, .reason = "a float sum of squares over many lanes within a row"};
}

std::span<const Variant<MeanSquaredError>> MeanSquaredError::variants() {
  static constexpr auto row_sums = [](const Arguments& a, int) {
    return static_cast<std::size_t>(Rows(a.x).count()) * sizeof(double);
  };
  static const Variant<MeanSquaredError> table[] = {
      mean_squared_error_cuda,
      INGOT_SIMD_ROWS(mean_squared_error_simd, nullptr, row_sums),
      {"reference", {}, mean_squared_error_reference},
  };
  return table;
}

Result<void> MeanSquaredErrorBackward::check(const Arguments& a) {
  TRY(check_squared_error(name, a.x, a.target, "dloss", a.dloss, a.reduction));
  TRY(require_shape(name, "C2", "dx", a.dx, a.x.shape()));
  TRY(require_contiguous_rows(name, "C2", "dx", a.dx));
  if (!is_present(a.dtarget)) return {};
  TRY(require_shape(name, "C2", "dtarget", a.dtarget, a.x.shape()));
  return require_contiguous_rows(name, "C2", "dtarget", a.dtarget);
}

Cost MeanSquaredErrorBackward::cost(const Arguments& a) {
  const auto count = static_cast<double>(a.x.count());
  return {.operations = 2 * count, .bytes_read = 8 * count, .bytes_written = 4 * count};
}

Tolerance MeanSquaredErrorBackward::tolerance(const Arguments&) {
  return {.epsilons = 4, .reason = "a difference and two products, each rounded once"};
}

std::span<const Variant<MeanSquaredErrorBackward>> MeanSquaredErrorBackward::variants() {
  static const Variant<MeanSquaredErrorBackward> table[] = {
      INGOT_SIMD_ROWS(mean_squared_error_backward_simd),
      {"reference", {}, mean_squared_error_backward_reference},
  };
  return table;
}

template const Operation& describe_operation<MeanSquaredError>();
template const Operation& describe_operation<MeanSquaredErrorBackward>();

}  // namespace ingot
