// Scalar truth, memory by memory: one memory of one channel is a scalar recurrence.
#include <cmath>
#include <vector>

#include "kernels/state/gradient_sum.h"
#include "kernels/state/selective_scan.h"

namespace ingot {
namespace {

// h_0 .. h_T of one memory.
template <class Arguments>
std::vector<double> scan_memory(const Arguments& a, std::int64_t batch, std::int64_t channel, std::int64_t n) {
  std::vector<double> history = {is_present(a.initial_state) ? double{a.initial_state(batch, channel, n)} : 0};
  for (std::int64_t t = 0; t < a.x.size(1); ++t) {
    const double delta = a.delta(batch, t, channel);
    const double factor = std::exp(delta * a.transition(channel, n));
    history.push_back(factor * history.back() + delta * a.input_projection(batch, t, n) * a.x(batch, t, channel));
  }
  return history;
}

}  // namespace

void selective_scan_reference(const SelectiveScan::Arguments& a, Context&) {
  const std::int64_t time = a.x.size(1);
  for (std::int64_t batch = 0; batch < a.x.size(0); ++batch) {
    for (std::int64_t channel = 0; channel < a.x.size(2); ++channel) {
      std::vector<double> y(static_cast<std::size_t>(time), 0.0);
      for (std::int64_t n = 0; n < a.transition.size(1); ++n) {
        const std::vector<double> history = scan_memory(a, batch, channel, n);
        for (std::int64_t t = 0; t < time; ++t) {
          y[static_cast<std::size_t>(t)] +=
              double{a.output_projection(batch, t, n)} * history[static_cast<std::size_t>(t + 1)];
        }
        a.final_state(batch, channel, n) = static_cast<float>(history.back());
      }
      for (std::int64_t t = 0; t < time; ++t) {
        const double skipped = is_present(a.skip) ? double{a.skip(channel)} * a.x(batch, t, channel) : 0;
        a.y(batch, t, channel) = static_cast<float>(y[static_cast<std::size_t>(t)] + skipped);
      }
    }
  }
}

void selective_scan_backward_reference(const SelectiveScanBackward::Arguments& a, Context&) {
  const std::int64_t time = a.x.size(1);
  const std::int64_t channels = a.x.size(2);
  GradientSum dx(a.dx, a.x.shape());
  GradientSum ddelta(a.ddelta, a.x.shape());
  GradientSum dtransition(a.dtransition, a.transition.shape());
  GradientSum dinput(a.dinput_projection, a.input_projection.shape());
  GradientSum doutput(a.doutput_projection, a.output_projection.shape());
  GradientSum dskip(a.dskip, {channels});
  for (std::int64_t batch = 0; batch < a.x.size(0); ++batch) {
    for (std::int64_t channel = 0; channel < channels; ++channel) {
      for (std::int64_t t = 0; t < time; ++t) {
        const double dy = a.dy(batch, t, channel);
        if (is_present(a.skip)) dx(batch, t, channel) += a.skip(channel) * dy;
        dskip(channel) += dy * a.x(batch, t, channel);
      }
      for (std::int64_t n = 0; n < a.transition.size(1); ++n) {
        const std::vector<double> history = scan_memory(a, batch, channel, n);
        double g = is_present(a.dfinal_state) ? double{a.dfinal_state(batch, channel, n)} : 0;
        for (std::int64_t t = time - 1; t >= 0; --t) {
          const double x = a.x(batch, t, channel);
          const double delta = a.delta(batch, t, channel);
          const double transition = a.transition(channel, n);
          const double projection = a.input_projection(batch, t, n);
          const double dy = a.dy(batch, t, channel);
          const double factor = std::exp(delta * transition);
          const double kept = factor * history[static_cast<std::size_t>(t)];
          g += a.output_projection(batch, t, n) * dy;
          doutput(batch, t, n) += dy * history[static_cast<std::size_t>(t + 1)];
          dinput(batch, t, n) += g * delta * x;
          dx(batch, t, channel) += g * delta * projection;
          ddelta(batch, t, channel) += g * (transition * kept + projection * x);
          dtransition(channel, n) += g * delta * kept;
          g *= factor;
        }
        if (is_present(a.dinitial_state)) a.dinitial_state(batch, channel, n) = static_cast<float>(g);
      }
    }
  }
  for (const GradientSum* sum : {&dx, &ddelta, &dtransition, &dinput, &doutput, &dskip}) sum->write();
}

}  // namespace ingot
