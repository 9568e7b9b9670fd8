#include "engine/device_steps.h"

#include <algorithm>

#include "engine/session_guards.h"
#include "engine/wall_clock.h"
#include "profile/statistics.h"

namespace ingot {
namespace {

constexpr double hold_of_marks = 1e-3;
constexpr std::size_t marks_tried = 33;

}  // namespace

Result<DeviceSteps> DeviceSteps::create(Session& session) {
  const DeviceSide& side = *session.device_side();
  DeviceSteps steps(session, TRY(DeviceClock::create(side.device(), side.queue())));
  TRY(steps.measure_marks());
  return steps;
}

Result<void> DeviceSteps::place(std::size_t mark) {
  while (marks_.size() <= mark) marks_.push_back(TRY(clock_.queue().make_mark()));
  return marks_[mark]->place();
}

Result<double> DeviceSteps::between(std::size_t begin, std::size_t end) {
  return marks_[end]->seconds_since(*marks_[begin]);
}

Result<void> DeviceSteps::measure_marks() {
  for (int round = 0; round < 2; ++round) {  // the first makes them
    TRY(clock_.hold(hold_of_marks));
    for (std::size_t mark = 0; mark < marks_tried; ++mark) TRY(place(mark));
    TRY(clock_.queue().wait());
  }
  std::vector<double> samples;
  for (std::size_t mark = 1; mark < marks_tried; ++mark) samples.push_back(TRY(between(mark - 1, mark)));
  mark_seconds_ = summarise(samples).median;
  return {};
}

Result<double> DeviceSteps::time_alone(const Plan& plan, std::size_t step) {
  const int variant = plan.circuit().steps[step].operation->variant_index(plan.variant_name(step));
  Context context{session_.context_for_kernels().workers, session_.device_side()->scratch(), &clock_.queue()};
  TRY(clock_.hold(hold_of_marks));
  TRY(place(0));
  plan.invocation(step).run(variant, context);
  TRY(place(1));
  TRY(clock_.queue().wait());
  return between(0, 1);
}

Result<std::vector<double>> DeviceSteps::time(const Plan& plan, const std::function<Result<void>()>& forward) {
  Result<void> placed;
  WallClock::time_point given;
  std::vector<double> seconds;
  {
    const Observation observation(session_, [&](std::size_t step) {
      const auto before = given;
      given = WallClock::now();
      if (step < plan.host_steps()) seconds.push_back(seconds_between(before, given));
      const Result<void> now = step + 1 < plan.host_steps() ? Result<void>() : place(step + 1);
      if (placed.ok()) placed = now;
    });
    TRY(clock_.hold(1.5 * giving_seconds_));
    const auto begin = WallClock::now();
    given = begin;
    TRY(place(0));
    TRY(forward());
    giving_seconds_ = seconds_between(begin, given);
  }
  TRY(placed);
  for (std::size_t step = plan.host_steps(); step < plan.circuit().steps.size(); ++step) {
    seconds.push_back(std::max(TRY(between(step, step + 1)) - mark_seconds_, 0.0));
  }
  // What comes before the first step is not the first step's.
  if (plan.host_steps() == 0) {
    seconds[0] = std::min(seconds[0], std::max(TRY(time_alone(plan, 0)) - mark_seconds_, 0.0));
  }
  return seconds;
}

}  // namespace ingot
