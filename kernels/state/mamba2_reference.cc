// Scalar truth, memory by memory: one element of a head's matrix is a scalar recurrence.
#include <cmath>
#include <vector>

#include "kernels/state/gradient_sum.h"
#include "kernels/state/mamba2.h"

namespace ingot {
namespace {

// One element (p, n) of the memory of one head.
struct Mamba2Place {
  std::int64_t batch, head, head_group, p, n;
};

template <class Arguments>
std::int64_t head_group_of(const Arguments& a, std::int64_t head) {
  return head / (a.x.size(2) / a.input_projection.size(2));
}

// h_0 .. h_T of one element.
template <class Arguments>
std::vector<double> scan_element(const Arguments& a, const Mamba2Place& at) {
  std::vector<double> history = {is_present(a.initial_state) ? double{a.initial_state(at.batch, at.head, at.p, at.n)}
                                                             : 0};
  for (std::int64_t t = 0; t < a.x.size(1); ++t) {
    const double delta = a.delta(at.batch, t, at.head);
    const double driven =
        delta * a.x(at.batch, t, at.head, at.p) * a.input_projection(at.batch, t, at.head_group, at.n);
    history.push_back(std::exp(delta * a.transition(at.head)) * history.back() + driven);
  }
  return history;
}

}  // namespace

void mamba2_reference(const Mamba2::Arguments& a, Context&) {
  const std::int64_t time = a.x.size(1);
  for (std::int64_t batch = 0; batch < a.x.size(0); ++batch) {
    for (std::int64_t head = 0; head < a.x.size(2); ++head) {
      const std::int64_t head_group = head_group_of(a, head);
      for (std::int64_t p = 0; p < a.x.size(3); ++p) {
        std::vector<double> y(static_cast<std::size_t>(time), 0.0);
        for (std::int64_t n = 0; n < a.input_projection.size(3); ++n) {
          const std::vector<double> history = scan_element(a, {batch, head, head_group, p, n});
          for (std::int64_t t = 0; t < time; ++t) {
            y[static_cast<std::size_t>(t)] +=
                double{a.output_projection(batch, t, head_group, n)} * history[static_cast<std::size_t>(t + 1)];
          }
          a.final_state(batch, head, p, n) = static_cast<float>(history.back());
        }
        for (std::int64_t t = 0; t < time; ++t) {
          const double skipped = is_present(a.skip) ? double{a.skip(head)} * a.x(batch, t, head, p) : 0;
          a.y(batch, t, head, p) = static_cast<float>(y[static_cast<std::size_t>(t)] + skipped);
        }
      }
    }
  }
}

void mamba2_backward_reference(const Mamba2Backward::Arguments& a, Context&) {
  const std::int64_t time = a.x.size(1);
  GradientSum dx(a.dx, a.x.shape());
  GradientSum ddelta(a.ddelta, a.delta.shape());
  GradientSum dtransition(a.dtransition, a.transition.shape());
  GradientSum dinput(a.dinput_projection, a.input_projection.shape());
  GradientSum doutput(a.doutput_projection, a.output_projection.shape());
  GradientSum dskip(a.dskip, a.transition.shape());
  for (std::int64_t batch = 0; batch < a.x.size(0); ++batch) {
    for (std::int64_t head = 0; head < a.x.size(2); ++head) {
      const std::int64_t head_group = head_group_of(a, head);
      const double transition = a.transition(head);
      for (std::int64_t p = 0; p < a.x.size(3); ++p) {
        for (std::int64_t t = 0; t < time; ++t) {
          const double dy = a.dy(batch, t, head, p);
          if (is_present(a.skip)) dx(batch, t, head, p) += a.skip(head) * dy;
          dskip(head) += dy * a.x(batch, t, head, p);
        }
        for (std::int64_t n = 0; n < a.input_projection.size(3); ++n) {
          const std::vector<double> history = scan_element(a, {batch, head, head_group, p, n});
          double g = is_present(a.dfinal_state) ? double{a.dfinal_state(batch, head, p, n)} : 0;
          for (std::int64_t t = time - 1; t >= 0; --t) {
            const double x = a.x(batch, t, head, p);
            const double delta = a.delta(batch, t, head);
            const double projection = a.input_projection(batch, t, head_group, n);
            const double dy = a.dy(batch, t, head, p);
            const double factor = std::exp(delta * transition);
            const double kept = factor * history[static_cast<std::size_t>(t)];
            g += a.output_projection(batch, t, head_group, n) * dy;
            doutput(batch, t, head_group, n) += dy * history[static_cast<std::size_t>(t + 1)];
            dinput(batch, t, head_group, n) += g * delta * x;
            dx(batch, t, head, p) += g * delta * projection;
            ddelta(batch, t, head) += g * (transition * kept + projection * x);
            dtransition(head) += g * delta * kept;
            g *= factor;
          }
          if (is_present(a.dinitial_state)) a.dinitial_state(batch, head, p, n) = static_cast<float>(g);
        }
      }
    }
  }
  for (const GradientSum* sum : {&dx, &ddelta, &dtransition, &dinput, &doutput, &dskip}) sum->write();
}

}  // namespace ingot
