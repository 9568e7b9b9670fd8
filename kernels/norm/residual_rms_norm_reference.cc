#include "kernels/norm/residual_rms_norm.h"
#include "kernels/norm/rms_norm.h"
#include "tensor/rows.h"

namespace ingot {

void residual_rms_norm_reference(const ResidualRmsNorm::Arguments& a, Context& context) {
  const Rows x(a.x);
  const Rows residual(a.residual);
  const Rows sum(a.sum);
  const Rows y(a.y);
  // Row by row: y may stand where a later step would still read x.
  for (std::int64_t row = 0; row < x.count(); ++row) {
    for (std::int64_t i = 0; i < x.length(); ++i) sum[row][i] = x[row][i] + residual[row][i];
    RmsNorm::Arguments norm;
    norm.x = View<const float>(sum[row], {x.length()});
    norm.gamma = a.gamma;
    norm.epsilon = a.epsilon;
    norm.y = View<float>(y[row], {x.length()});
    if (is_present(a.rstd)) norm.rstd = View<float>(a.rstd.data() + row, {});
    rms_norm_reference(norm, context);
  }
}

void residual_rms_norm_backward_reference(const ResidualRmsNormBackward::Arguments& a, Context&) {
  const Rows sum(a.sum);
  const Rows dy(a.dy);
  const Rows dx(a.dx);
  const std::int64_t length = sum.length();
  const auto gamma = [&](std::int64_t i) { return double{a.gamma(i)}; };
  for (std::int64_t i = 0; i < length; ++i) {
    double dgamma = 0;
    for (std::int64_t row = 0; row < sum.count(); ++row) {
      dgamma += dy[row][i] * (sum[row][i] * double{a.rstd.data()[row]});
    }
    a.dgamma(i) = static_cast<float>(dgamma);
  }
  for (std::int64_t row = 0; row < sum.count(); ++row) {
    const double rstd = a.rstd.data()[row];
    double mean = 0;
    for (std::int64_t i = 0; i < length; ++i) mean += gamma(i) * dy[row][i] * (sum[row][i] * rstd);
    mean /= static_cast<double>(length);
    for (std::int64_t i = 0; i < length; ++i) {
      const double upstream = is_present(a.dsum) ? Rows(a.dsum)[row][i] : 0;
      const double through = rstd * (gamma(i) * dy[row][i] - sum[row][i] * rstd * mean);
      dx[row][i] = static_cast<float>(upstream + through);
      if (is_present(a.dresidual)) Rows(a.dresidual)[row][i] = dx[row][i];
    }
  }
}

}  // namespace ingot
