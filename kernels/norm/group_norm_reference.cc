#include <cmath>
#include <vector>

#include "kernels/norm/group_norm.h"

namespace ingot {

void group_norm_reference(const GroupNorm::Arguments& a, Context&) {
  const ChannelLayout layout(a.x.shape());
  const std::int64_t length = layout.channels / a.groups * layout.positions;
  for (std::int64_t group = 0; group < layout.images * a.groups; ++group) {
    const float* x = a.x.data() + group * length;
    float* y = a.y.data() + group * length;
    double mean = 0;
    for (std::int64_t i = 0; i < length; ++i) mean += x[i];
    mean /= static_cast<double>(length);
    double variance = 0;
    for (std::int64_t i = 0; i < length; ++i) variance += (x[i] - mean) * (x[i] - mean);
    const double rstd = 1 / std::sqrt(variance / static_cast<double>(length) + double{a.epsilon});
    for (std::int64_t i = 0; i < length; ++i) {
      const std::int64_t channel = (group * length + i) / layout.positions % layout.channels;
      const double gamma = is_present(a.gamma) ? a.gamma(channel) : 1;
      const double beta = is_present(a.beta) ? a.beta(channel) : 0;
      y[i] = static_cast<float>(gamma * (x[i] - mean) * rstd + beta);
    }
    if (is_present(a.mean)) a.mean.data()[group] = static_cast<float>(mean);
    if (is_present(a.rstd)) a.rstd.data()[group] = static_cast<float>(rstd);
  }
}

void group_norm_backward_reference(const GroupNormBackward::Arguments& a, Context&) {
  const ChannelLayout layout(a.x.shape());
  const std::int64_t length = layout.channels / a.groups * layout.positions;
  std::vector<double> dgamma(static_cast<std::size_t>(layout.channels), 0.0);
  std::vector<double> dbeta(static_cast<std::size_t>(layout.channels), 0.0);
  for (std::int64_t group = 0; group < layout.images * a.groups; ++group) {
    const double mean = a.mean.data()[group];
    const double rstd = a.rstd.data()[group];
    const float* x = a.x.data() + group * length;
    const float* dy = a.dy.data() + group * length;
    float* dx = a.dx.data() + group * length;
    const auto channel_of = [&](std::int64_t i) { return (group * length + i) / layout.positions % layout.channels; };
    const auto gamma = [&](std::int64_t i) { return is_present(a.gamma) ? double{a.gamma(channel_of(i))} : 1.0; };
    double sum = 0;
    double product = 0;
    for (std::int64_t i = 0; i < length; ++i) {
      const double xhat = (x[i] - mean) * rstd;
      sum += gamma(i) * dy[i];
      product += gamma(i) * dy[i] * xhat;
      dgamma[static_cast<std::size_t>(channel_of(i))] += dy[i] * xhat;
      dbeta[static_cast<std::size_t>(channel_of(i))] += dy[i];
    }
    sum /= static_cast<double>(length);
    product /= static_cast<double>(length);
    for (std::int64_t i = 0; i < length; ++i) {
      dx[i] = static_cast<float>(rstd * (gamma(i) * dy[i] - sum - (x[i] - mean) * rstd * product));
    }
  }
  for (std::int64_t channel = 0; channel < layout.channels; ++channel) {
    const auto index = static_cast<std::size_t>(channel);
    if (is_present(a.dgamma)) a.dgamma(channel) = static_cast<float>(dgamma[index]);
    if (is_present(a.dbeta)) a.dbeta(channel) = static_cast<float>(dbeta[index]);
  }
}

}  // namespace ingot
