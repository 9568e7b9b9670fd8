// The rate of the time-stamp counter: told by the CPU or the hypervisor, else measured against the PC's oldest timer.
#include "os/arch/x86_64/cpu.h"
#include "os/arch/x86_64/platform.h"
#include "os/device/interval_timer.h"
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

}  // namespace

Result<std::uint64_t> Platform::cycles_per_second() const {
  if (const std::uint64_t told = rate_by_cpuid(); told != 0) return told;
  constexpr std::uint16_t ticks = 180;  // 151 microseconds
  IntervalTimer::start();
  return measure_cycles_per_second({IntervalTimer::ticks_per_second, 0xffff}, ticks, IntervalTimer::read, cycle_count);
}

}  // namespace ingot::os::arch
