#include "os/device/apic_alarm.h"

#include "os/interrupt/calibration.h"
#include "os/interrupt/vectors.h"

namespace ingot::os {

namespace {

constexpr std::uint32_t most_ticks = 0xffffffff;

// The cycle counter is the reference here, and the timer's elapsed ticks are what is measured.
Result<CycleClock> measure(LocalApic& local, const CycleClock& cycles) {
  const auto ticks = static_cast<std::uint32_t>(cycles.cycles_per_second() / 20'000);  // 50 microseconds
  local.start_timer(most_ticks);                                                       // masked: it rings nowhere
  const std::uint64_t rate = TRY(measure_cycles_per_second(
      {cycles.cycles_per_second(), 0xffffffff}, ticks,
      [] { return static_cast<std::uint32_t>(0 - arch::cycle_count()); },
      [&] { return std::uint64_t{most_ticks - local.timer_ticks_left()}; }));
  local.start_timer(0);
  return CycleClock::create(rate);
}

}  // namespace

Result<ApicAlarm> ApicAlarm::create(LocalApic& local, const MonotonicClock& clock, bool has_cycle_deadline) {
  if (has_cycle_deadline) return ApicAlarm(local, clock, std::nullopt);
  local.divide_timer();
  const CycleClock rate = TRY(measure(local, clock.rate()));
  return ApicAlarm(local, clock, rate);
}

void ApicAlarm::attach_cpu() {
  local_->set_timer(vectors::timer, rate_ ? LocalApic::TimerMode::one_shot : LocalApic::TimerMode::cycle_deadline);
}

void ApicAlarm::ring_at(Nanoseconds time) {
  // In the past, it rings at once: it may not be 0, which would switch it off.
  if (!rate_) return LocalApic::set_deadline(time.count() > 0 ? clock_->cycles_at(time) : 1);
  const Nanoseconds left = time - clock_->now();
  const std::uint64_t ticks = left.count() > 0 ? rate_->cycles(left) + 1 : 1;
  local_->start_timer(ticks < most_ticks ? static_cast<std::uint32_t>(ticks) : most_ticks);  // too far: rings early
}

}  // namespace ingot::os
