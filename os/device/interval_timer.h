// The 8254, the PC's oldest timer: what every other clock can be measured against.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "os/interrupt/monotonic_clock.h"
#include "os/schedule/timer_queue.h"

namespace ingot::os {

// Channel 2, by which others are measured, raises no interrupt, only the speaker, which stays off.
class IntervalTimer {
 public:
  static constexpr std::uint64_t ticks_per_second = 1'193'182;

  // From 65536 downwards, and again.
  static void start();
  static std::uint16_t read();

  // Channel 0 raises line 0, once, after so many ticks. Precondition: not 0.
  static void ring_after(std::uint16_t ticks);
};

// The alarm of a machine without local APICs, and so of one CPU. Rings early where a time is too far for it.
class IntervalAlarm final : public TimerAlarm {
 public:
  static Result<IntervalAlarm> create(const MonotonicClock& clock);
  void ring_at(Nanoseconds time) override;

 private:
  IntervalAlarm(const MonotonicClock& clock, CycleClock rate) : clock_(&clock), rate_(rate) {}

  const MonotonicClock* clock_;
  CycleClock rate_;
};

}  // namespace ingot::os
