// Scalar truth: a channel's inputs are laid out behind its state, once in double, and the sums read off that line.
#include <cmath>
#include <vector>

#include "kernels/state/causal_conv1d.h"

namespace ingot {
namespace {

using Line = std::vector<double>;

// initial_state followed by x, for one channel of one sequence.
template <class Arguments>
Line channel_line(const Arguments& a, std::int64_t batch, std::int64_t channel) {
  Line line;
  for (std::int64_t i = 0; i + 1 < a.weights.size(1); ++i) {
    line.push_back(is_present(a.initial_state) ? double{a.initial_state(batch, channel, i)} : 0);
  }
  for (std::int64_t t = 0; t < a.x.size(2); ++t) line.push_back(a.x(batch, channel, t));
  return line;
}

template <class Arguments>
double convolve_at(const Arguments& a, const Line& line, std::int64_t channel, std::int64_t t) {
  double sum = is_present(a.bias) ? double{a.bias(channel)} : 0;
  for (std::int64_t j = 0; j < a.weights.size(1); ++j) {
    sum += double{a.weights(channel, j)} * line[static_cast<std::size_t>(t + j)];
  }
  return sum;
}

// e^-|u| cannot overflow, so a large negative u gives 0 and not 0/inf.
double logistic(double u) {
  const double decayed = std::exp(-std::fabs(u));
  return (u < 0 ? decayed : 1) / (1 + decayed);
}

}  // namespace

void causal_conv1d_reference(const CausalConv1d::Arguments& a, Context&) {
  for (std::int64_t batch = 0; batch < a.x.size(0); ++batch) {
    for (std::int64_t channel = 0; channel < a.x.size(1); ++channel) {
      const Line line = channel_line(a, batch, channel);
      for (std::int64_t t = 0; t < a.x.size(2); ++t) {
        const double u = convolve_at(a, line, channel, t);
        a.y(batch, channel, t) = static_cast<float>(a.activation == ConvolutionActivation::silu ? u * logistic(u) : u);
      }
      for (std::int64_t i = 0; i < a.final_state.size(2); ++i) {
        a.final_state(batch, channel, i) = static_cast<float>(line[static_cast<std::size_t>(a.x.size(2) + i)]);
      }
    }
  }
}

void causal_conv1d_backward_reference(const CausalConv1dBackward::Arguments& a, Context&) {
  const std::int64_t taps = a.weights.size(1);
  for (std::int64_t channel = 0; channel < a.x.size(1); ++channel) {
    std::vector<double> dweights(static_cast<std::size_t>(taps), 0.0);
    double dbias = 0;
    for (std::int64_t batch = 0; batch < a.x.size(0); ++batch) {
      const Line line = channel_line(a, batch, channel);
      Line dline(line.size(), 0.0);
      for (std::int64_t t = 0; t < a.x.size(2); ++t) {
        double du = a.dy(batch, channel, t);
        if (a.activation == ConvolutionActivation::silu) {
          const double u = convolve_at(a, line, channel, t);
          const double gate = logistic(u);
          du *= gate * (1 + u * (1 - gate));
        }
        dbias += du;
        for (std::int64_t j = 0; j < taps; ++j) {
          dline[static_cast<std::size_t>(t + j)] += a.weights(channel, j) * du;
          dweights[static_cast<std::size_t>(j)] += du * line[static_cast<std::size_t>(t + j)];
        }
      }
      for (std::int64_t i = 0; i + 1 < taps; ++i) {
        if (is_present(a.dfinal_state)) {
          dline[static_cast<std::size_t>(a.x.size(2) + i)] += a.dfinal_state(batch, channel, i);
        }
      }
      for (std::int64_t i = 0; i + 1 < taps; ++i) {
        if (is_present(a.dinitial_state)) {
          a.dinitial_state(batch, channel, i) = static_cast<float>(dline[static_cast<std::size_t>(i)]);
        }
      }
      for (std::int64_t t = 0; t < a.x.size(2); ++t) {
        a.dx(batch, channel, t) = static_cast<float>(dline[static_cast<std::size_t>(taps - 1 + t)]);
      }
    }
    if (is_present(a.dbias)) a.dbias(channel) = static_cast<float>(dbias);
    for (std::int64_t j = 0; j < taps; ++j) {
      a.dweights(channel, j) = static_cast<float>(dweights[static_cast<std::size_t>(j)]);
    }
  }
}

}  // namespace ingot
