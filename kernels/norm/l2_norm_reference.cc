#include <cmath>

#include "kernels/norm/l2_norm.h"
#include "tensor/rows.h"

namespace ingot {

void l2_norm_reference(const L2Norm::Arguments& a, Context&) {
  const Rows x(a.x);
  const Rows y(a.y);
  for (std::int64_t row = 0; row < x.count(); ++row) {
    double sum = 0;
    for (std::int64_t i = 0; i < x.length(); ++i) sum += double{x[row][i]} * x[row][i];
    const double rstd = 1 / std::sqrt(sum + double{a.epsilon});
    for (std::int64_t i = 0; i < x.length(); ++i) y[row][i] = static_cast<float>(x[row][i] * rstd);
    if (is_present(a.rstd)) a.rstd.data()[row] = static_cast<float>(rstd);
  }
}

void l2_norm_backward_reference(const L2NormBackward::Arguments& a, Context&) {
  const Rows x(a.x);
  const Rows dy(a.dy);
  const Rows dx(a.dx);
  for (std::int64_t row = 0; row < x.count(); ++row) {
    const double rstd = a.rstd.data()[row];
    double sum = 0;
    for (std::int64_t i = 0; i < x.length(); ++i) sum += dy[row][i] * (x[row][i] * rstd);
    for (std::int64_t i = 0; i < x.length(); ++i) {
      dx[row][i] = static_cast<float>(rstd * (dy[row][i] - x[row][i] * rstd * sum));
    }
  }
}

}  // namespace ingot
