// The rate of the time-stamp counter: told by the CPU or the hypervisor, else measured against the PC's oldest timer.
#include "os/arch/x86_64/cpu.h"
#include "os/arch/x86_64/platform.h"
#include "os/arch/x86_64/port.h"
#include "os/interrupt/calibration.h"

namespace ingot::os::arch {

namespace {

std::uint64_t rate_by_cpuid() {
  // Leaf 15h: the counter as a fraction of a crystal whose rate is told as well, or not at all.
  if (cpuid(0).eax >= 0x15) {
    const CpuidResult clock = cpuid(0x15);
    if (clock.eax != 0 && clock.ebx != 0 && clock.ecx != 0) return std::uint64_t{clock.ecx} * clock.ebx / clock.eax;
  }
  // Hypervisors tell kHz in a leaf that VMware began.
  constexpr std::uint32_t under_hypervisor = 1u << 31;
  if ((cpuid(1).ecx & under_hypervisor) != 0 && cpuid(0x40000000).eax >= 0x40000010) {
    return std::uint64_t{cpuid(0x40000010).eax} * 1000;
  }
  return 0;
}

// Channel 2 of the 8254 beats no interrupt, only the speaker, which stays off.
constexpr std::uint16_t channel_2 = 0x42, command = 0x43, speaker_control = 0x61;

void start_timer() {
  write_port(speaker_control, static_cast<std::uint8_t>((read_port(speaker_control) & ~2u) | 1u));
  write_port(command, 0xb4);  // channel 2, both bytes, periodic
  write_port(channel_2, 0);   // from 65536, the longest
  write_port(channel_2, 0);
}
std::uint16_t read_timer() {
  write_port(command, 0x80);  // hold the value of channel 2 until it is read
  const std::uint16_t low = read_port(channel_2);
  return static_cast<std::uint16_t>(low | read_port(channel_2) << 8);
}

}  // namespace

Result<std::uint64_t> Platform::cycles_per_second() const {
  if (const std::uint64_t told = rate_by_cpuid(); told != 0) return told;
  constexpr std::uint64_t timer_rate = 1'193'182;
  constexpr std::uint16_t ticks = 180;  // 151 microseconds
  start_timer();
  return measure_cycles_per_second({timer_rate, 0xffff}, ticks, read_timer, cycle_count);
}

}  // namespace ingot::os::arch
