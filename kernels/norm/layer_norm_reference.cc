#include <cmath>
#include <vector>

#include "kernels/norm/layer_norm.h"
#include "tensor/rows.h"

namespace ingot {

void layer_norm_reference(const LayerNorm::Arguments& a, Context&) {
  const Rows x(a.x);
  const Rows y(a.y);
  const auto width = static_cast<double>(x.length());
  for (std::int64_t row = 0; row < x.count(); ++row) {
    double mean = 0;
    for (std::int64_t i = 0; i < x.length(); ++i) mean += x[row][i];
    mean /= width;
    double variance = 0;
    for (std::int64_t i = 0; i < x.length(); ++i) variance += (x[row][i] - mean) * (x[row][i] - mean);
    const double rstd = 1 / std::sqrt(variance / width + double{a.epsilon});
    for (std::int64_t i = 0; i < x.length(); ++i) {
      const double gamma = is_present(a.gamma) ? a.gamma(i) : 1;
      const double beta = is_present(a.beta) ? a.beta(i) : 0;
      y[row][i] = static_cast<float>(gamma * (x[row][i] - mean) * rstd + beta);
    }
    if (is_present(a.mean)) a.mean.data()[row] = static_cast<float>(mean);
    if (is_present(a.rstd)) a.rstd.data()[row] = static_cast<float>(rstd);
  }
}

void layer_norm_backward_reference(const LayerNormBackward::Arguments& a, Context&) {
  const Rows x(a.x);
  const Rows dy(a.dy);
  const Rows dx(a.dx);
  const std::int64_t length = x.length();
  const auto gamma = [&](std::int64_t i) { return is_present(a.gamma) ? double{a.gamma(i)} : 1.0; };
  std::vector<double> dgamma(static_cast<std::size_t>(length), 0.0);
  std::vector<double> dbeta(static_cast<std::size_t>(length), 0.0);
  for (std::int64_t row = 0; row < x.count(); ++row) {
    const double mean = a.mean.data()[row];
    const double rstd = a.rstd.data()[row];
    double sum = 0;      // of g
    double product = 0;  // of g xhat
    for (std::int64_t i = 0; i < length; ++i) {
      const double xhat = (x[row][i] - mean) * rstd;
      sum += gamma(i) * dy[row][i];
      product += gamma(i) * dy[row][i] * xhat;
      dgamma[static_cast<std::size_t>(i)] += dy[row][i] * xhat;
      dbeta[static_cast<std::size_t>(i)] += dy[row][i];
    }
    sum /= static_cast<double>(length);
    product /= static_cast<double>(length);
    for (std::int64_t i = 0; i < length; ++i) {
      const double xhat = (x[row][i] - mean) * rstd;
      dx[row][i] = static_cast<float>(rstd * (gamma(i) * dy[row][i] - sum - xhat * product));
    }
  }
  for (std::int64_t i = 0; i < length; ++i) {
    if (is_present(a.dgamma)) a.dgamma(i) = static_cast<float>(dgamma[static_cast<std::size_t>(i)]);
    if (is_present(a.dbeta)) a.dbeta(i) = static_cast<float>(dbeta[static_cast<std::size_t>(i)]);
  }
}

}  // namespace ingot
