// Time: how fast the cycle counter runs, and which timer interrupts each CPU.
#include "os/boot/kernel.h"
#include "os/boot/start.h"

namespace ingot::os {

void start_clock(Kernel& kernel) {
  const CycleRate rate =
      require(kernel.time_hardware.cycle_rate(kernel.acpi.tables(), *kernel.memory), "cycle counter");
  kernel.clock.emplace(require(CycleClock::create(rate.cycles_per_second), "cycle counter"),
                       kernel.platform.entry_cycles());
  kernel.log.information("clock: ", rate.cycles_per_second / 1'000'000, " MHz, by ", rate.source);
  if (!counts_evenly()) kernel.log.warning("clock: the CPU does not say that its counter is invariant: believed");
}

void start_timers(Kernel& kernel) {
  const auto on_ring = [](void* context, arch::TrapFrame&) {
    current_processor().timers->expire(static_cast<Kernel*>(context)->now());
  };
  TimeHardware& hardware = kernel.time_hardware;
  require(hardware.start_alarm(kernel.interrupt_hardware, kernel.interrupts, *kernel.clock, {on_ring, &kernel}),
          "timers");
  kernel.boot_processor.timers.emplace(hardware.alarm());
  hardware.attach_cpu();
  kernel.log.information("timers: by ", hardware.alarm_name());
}

}  // namespace ingot::os
