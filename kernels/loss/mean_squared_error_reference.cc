// Scalar truth, in double.
#include "kernels/loss/mean_squared_error.h"
#include "tensor/rows.h"

namespace ingot {

void mean_squared_error_reference(const MeanSquaredError::Arguments& a, Context&) {
  const Rows x(a.x);
  const Rows target(a.target);
  double sum = 0;
  for (std::int64_t row = 0; row < x.count(); ++row) {
    for (std::int64_t i = 0; i < x.length(); ++i) {
      const double difference = double{x[row][i]} - target[row][i];
      sum += difference * difference;
      if (a.reduction == Reduction::none) Rows(a.loss)[row][i] = static_cast<float>(difference * difference);
    }
  }
  if (a.reduction == Reduction::mean) sum /= static_cast<double>(a.x.count());
  if (a.reduction != Reduction::none) a.loss(0) = static_cast<float>(sum);
}

void mean_squared_error_backward_reference(const MeanSquaredErrorBackward::Arguments& a, Context&) {
  const Rows x(a.x);
  const Rows target(a.target);
  const Rows dx(a.dx);
  const double divisor = a.reduction == Reduction::mean ? static_cast<double>(a.x.count()) : 1;
  for (std::int64_t row = 0; row < x.count(); ++row) {
    for (std::int64_t i = 0; i < x.length(); ++i) {
      const double upstream = a.reduction == Reduction::none ? Rows(a.dloss)[row][i] : a.dloss(0);
      const double gradient = 2 * (upstream / divisor) * (double{x[row][i]} - target[row][i]);
      dx[row][i] = static_cast<float>(gradient);
      if (is_present(a.dtarget)) Rows(a.dtarget)[row][i] = static_cast<float>(-gradient);
    }
  }
}

}  // namespace ingot
