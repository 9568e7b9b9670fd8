#include "os/device/cycle_rate.h"

#include "os/arch/arch.h"
#include "os/device/interval_timer.h"
#include "os/interrupt/calibration.h"

namespace ingot::os {

bool counts_evenly() {
  constexpr std::uint32_t extended_leaves = 0x8000'0000, power_leaf = 0x8000'0007, invariant = 1u << 8;
  return arch::cpuid(extended_leaves).eax >= power_leaf && (arch::cpuid(power_leaf).edx & invariant) != 0;
}

CycleRate told_cycle_rate() {
  constexpr std::uint32_t ratio_leaf = 0x15, frequency_leaf = 0x16, hypervisor_leaf = 0x40000000,
                          hypervisor_clock_leaf = 0x40000010;
  const std::uint32_t last_leaf = arch::cpuid(0).eax;
  if (last_leaf >= ratio_leaf) {
    // The counter as a fraction of a crystal, whose rate is told or not.
    const arch::CpuidResult ratio = arch::cpuid(ratio_leaf);
    if (ratio.eax != 0 && ratio.ebx != 0) {
      if (ratio.ecx != 0) return {std::uint64_t{ratio.ecx} * ratio.ebx / ratio.eax, "CPUID leaf 15h"};
      // CPUs that have the ratio alone count at their nominal rate.
      const std::uint64_t megahertz = last_leaf >= frequency_leaf ? arch::cpuid(frequency_leaf).eax & 0xffff : 0;
      if (megahertz != 0) return {megahertz * 1'000'000, "CPUID leaf 16h"};
    }
  }
  // Hypervisors tell kHz in a leaf that VMware began.
  constexpr std::uint32_t under_hypervisor = 1u << 31;
  if ((arch::cpuid(1).ecx & under_hypervisor) != 0 && arch::cpuid(hypervisor_leaf).eax >= hypervisor_clock_leaf) {
    return {std::uint64_t{arch::cpuid(hypervisor_clock_leaf).eax} * 1000, "the hypervisor"};
  }
  return {};
}

Result<CycleRate> measured_cycle_rate(const Hpet* hpet) {
  constexpr std::uint64_t measurements_per_second = 6'600;  // 151 microseconds each
  if (hpet != nullptr) {
    const auto ticks = static_cast<std::uint32_t>(hpet->ticks_per_second() / measurements_per_second);
    const auto downwards = [hpet] { return 0 - hpet->read(); };
    const Result<std::uint64_t> rate =
        measure_cycles_per_second({hpet->ticks_per_second(), 0xffffffff}, ticks, downwards, arch::cycle_count);
    if (rate.ok()) return CycleRate{rate.value(), "the HPET"};
  }
  IntervalTimer::start();
  constexpr auto ticks = static_cast<std::uint32_t>(IntervalTimer::ticks_per_second / measurements_per_second);
  const auto read = [] { return std::uint32_t{IntervalTimer::read()}; };
  return CycleRate{
      TRY(measure_cycles_per_second({IntervalTimer::ticks_per_second, 0xffff}, ticks, read, arch::cycle_count)),
      "the 8254"};
}

}  // namespace ingot::os
