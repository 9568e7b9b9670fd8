// Scalar truth. Sums run in double: the reference must be more exact than anything measured against it, and a float sum
// of thousands of squares is not.
#include <cmath>
#include <vector>

#include "kernels/norm/rms_norm.h"
#include "tensor/rows.h"

namespace ingot {

void rms_norm_reference(const RmsNorm::Arguments& arguments, Context&) {
  const Rows x(arguments.x);
  const Rows y(arguments.y);
  for (std::int64_t row = 0; row < x.count(); ++row) {
    double sum = 0;
    for (std::int64_t i = 0; i < x.length(); ++i) sum += double{x[row][i]} * x[row][i];
    const double rstd = 1 / std::sqrt(sum / static_cast<double>(x.length()) + double{arguments.epsilon});
    for (std::int64_t i = 0; i < x.length(); ++i) {
      y[row][i] = static_cast<float>(double{arguments.gamma(i)} * x[row][i] * rstd);
    }
    if (is_present(arguments.rstd)) arguments.rstd.data()[row] = static_cast<float>(rstd);
  }
}

void rms_norm_backward_reference(const RmsNormBackward::Arguments& arguments, Context&) {
  const Rows x(arguments.x);
  const Rows dy(arguments.dy);
  const Rows dx(arguments.dx);
  const std::int64_t length = x.length();
  std::vector<double> dgamma(static_cast<std::size_t>(length), 0.0);
  for (std::int64_t row = 0; row < x.count(); ++row) {
    const double rstd = arguments.rstd.data()[row];
    double mean = 0;
    for (std::int64_t i = 0; i < length; ++i) {
      const double normalised = x[row][i] * rstd;
      dgamma[static_cast<std::size_t>(i)] += dy[row][i] * normalised;
      mean += double{arguments.gamma(i)} * dy[row][i] * normalised;
    }
    mean /= static_cast<double>(length);
    for (std::int64_t i = 0; i < length; ++i) {
      const double normalised = x[row][i] * rstd;
      dx[row][i] = static_cast<float>(rstd * (double{arguments.gamma(i)} * dy[row][i] - normalised * mean));
    }
  }
  for (std::int64_t i = 0; i < length; ++i)
    arguments.dgamma(i) = static_cast<float>(dgamma[static_cast<std::size_t>(i)]);
}

}  // namespace ingot
