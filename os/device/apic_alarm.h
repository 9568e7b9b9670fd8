// ApicAlarm: each CPU's local APIC as its alarm. Where it can, it compares with the cycle counter; else it counts down.
#pragma once

#include <optional>

#include "os/device/local_apic.h"
#include "os/interrupt/monotonic_clock.h"
#include "os/schedule/timer_queue.h"

namespace ingot::os {

class ApicAlarm final : public TimerAlarm {
 public:
  // On the CPU that booted: takes 50 microseconds where the timer's own rate must be measured.
  static Result<ApicAlarm> create(LocalApic& local, const MonotonicClock& clock, bool has_cycle_deadline);

  // On each CPU, before its first ring_at: which rings this CPU alone.
  void attach_cpu();
  void ring_at(Nanoseconds time) override;

  // None: it compares with the cycle counter.
  const std::optional<CycleClock>& rate() const { return rate_; }

 private:
  ApicAlarm(LocalApic& local, const MonotonicClock& clock, std::optional<CycleClock> rate)
      : local_(&local), clock_(&clock), rate_(rate) {}

  LocalApic* local_;
  const MonotonicClock* clock_;
  std::optional<CycleClock> rate_;
};

}  // namespace ingot::os
