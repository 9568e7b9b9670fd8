#include "os/device/interval_timer.h"

#include "os/arch/arch.h"

namespace ingot::os {

namespace {

constexpr std::uint16_t channel_2 = 0x42, command = 0x43, speaker_control = 0x61;

}  // namespace

void IntervalTimer::start() {
  const unsigned speaker = arch::read_port_8(speaker_control);
  arch::write_port_8(speaker_control, static_cast<std::uint8_t>((speaker & ~2u) | 1u));
  arch::write_port_8(command, 0xb4);  // channel 2, both bytes, periodic
  arch::write_port_8(channel_2, 0);   // from 65536, the longest
  arch::write_port_8(channel_2, 0);
}

std::uint16_t IntervalTimer::read() {
  arch::write_port_8(command, 0x80);  // hold the value of channel 2 until it is read
  const std::uint16_t low = arch::read_port_8(channel_2);
  return static_cast<std::uint16_t>(low | arch::read_port_8(channel_2) << 8);
}

}  // namespace ingot::os
