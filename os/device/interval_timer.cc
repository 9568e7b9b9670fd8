#include "os/device/interval_timer.h"

#include "os/arch/arch.h"

namespace ingot::os {

namespace {

constexpr std::uint16_t channel_0 = 0x40, channel_2 = 0x42, timer_control = 0x43, speaker_control = 0x61;

}  // namespace

void IntervalTimer::start() {
  const unsigned speaker = arch::read_port_8(speaker_control);
  arch::write_port_8(speaker_control, static_cast<std::uint8_t>((speaker & ~2u) | 1u));
  arch::write_port_8(timer_control, 0xb4);  // channel 2, both bytes, periodic
  arch::write_port_8(channel_2, 0);         // from 65536, the longest
  arch::write_port_8(channel_2, 0);
}

std::uint16_t IntervalTimer::read() {
  arch::write_port_8(timer_control, 0x80);  // hold the value of channel 2 until it is read
  const std::uint16_t low = arch::read_port_8(channel_2);
  return static_cast<std::uint16_t>(low | arch::read_port_8(channel_2) << 8);
}

void IntervalTimer::ring_after(std::uint16_t ticks) {
  arch::write_port_8(timer_control, 0x30);  // channel 0, both bytes, rises once at the end
  arch::write_port_8(channel_0, static_cast<std::uint8_t>(ticks));
  arch::write_port_8(channel_0, static_cast<std::uint8_t>(ticks >> 8));
}

Result<IntervalAlarm> IntervalAlarm::create(const MonotonicClock& clock) {
  return IntervalAlarm(clock, TRY(CycleClock::create(IntervalTimer::ticks_per_second)));
}

void IntervalAlarm::ring_at(Nanoseconds time) {
  constexpr std::uint64_t most = 0xffff;
  const Nanoseconds left = time - clock_->now();
  const std::uint64_t ticks = left.count() > 0 ? rate_.cycles(left) + 1 : 1;
  IntervalTimer::ring_after(static_cast<std::uint16_t>(ticks < most ? ticks : most));
}

}  // namespace ingot::os
