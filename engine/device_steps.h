// DeviceSteps: how long a device takes for each step of a pass, by marks between them.
#pragma once

#include "engine/session.h"
#include "profile/device_clock.h"

namespace ingot {

class DeviceSteps {
 public:
  // Of passes of a session that runs on a device. Precondition: the session outlives this.
  static Result<DeviceSteps> create(Session& session);

  // Seconds of each step of the plan in a pass that `forward` runs. All steps of the device are given before it begins
  // with the first, so that it never waits for the host; marks take a little of its time, which is taken off again.
  // What runs on the host before them is timed by the host's clock.
  Result<std::vector<double>> time(const Plan& plan, const std::function<Result<void>()>& forward);

 private:
  DeviceSteps(Session& session, DeviceClock clock) : session_(session), clock_(std::move(clock)) {}
  Result<void> place(std::size_t mark);
  Result<double> between(std::size_t begin, std::size_t end);
  Result<void> measure_marks();
  // A step alone: the first of a pass is preceded by what the pass is told.
  Result<double> time_alone(const Plan& plan, std::size_t step);

  Session& session_;
  DeviceClock clock_;
  std::vector<std::unique_ptr<Mark>> marks_;
  double mark_seconds_ = 0;
  double giving_seconds_ = 0.01;  // of the last pass
};

}  // namespace ingot
