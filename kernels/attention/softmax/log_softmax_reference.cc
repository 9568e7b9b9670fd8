// Scalar truth; the row's arithmetic is row_softmax.h's.
#include "kernels/attention/softmax/log_softmax.h"

#include <vector>

#include "kernels/attention/softmax/row_softmax.h"
#include "tensor/rows.h"

namespace ingot {

void log_softmax_reference(const LogSoftmax::Arguments& a, Context&) {
  const Rows x(a.x);
  const Rows y(a.y);
  std::vector<double> scores(static_cast<std::size_t>(x.length()));
  for (std::int64_t row = 0; row < x.count(); ++row) {
    for (std::int64_t j = 0; j < x.length(); ++j) scores[static_cast<std::size_t>(j)] = x[row][j];
    const RowSum sum = exponentiate(scores);
    const double taken = sum.sum == 0 ? 0 : sum.log_sum_exp();
    for (std::int64_t j = 0; j < x.length(); ++j) y[row][j] = static_cast<float>(x[row][j] - taken);
  }
}

void log_softmax_backward_reference(const LogSoftmaxBackward::Arguments& a, Context&) {
  const Rows y(a.y);
  const Rows dy(a.dy);
  const Rows dx(a.dx);
  for (std::int64_t row = 0; row < y.count(); ++row) {
    double sum = 0;
    for (std::int64_t j = 0; j < y.length(); ++j) sum += double{dy[row][j]};
    for (std::int64_t j = 0; j < y.length(); ++j) {
      dx[row][j] = static_cast<float>(dy[row][j] - std::exp(double{y[row][j]}) * sum);
    }
  }
}

}  // namespace ingot
