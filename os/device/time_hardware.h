// TimeHardware: which of the PC's timers tell the time, and which ring.
#pragma once

#include <optional>

#include "os/device/acpi_tables.h"
#include "os/device/apic_alarm.h"
#include "os/device/cycle_rate.h"
#include "os/device/interrupt_hardware.h"
#include "os/device/interval_timer.h"
#include "os/memory/kernel_memory.h"

namespace ingot::os {

class TimeHardware {
 public:
  TimeHardware() = default;
  TimeHardware(const TimeHardware&) = delete;  // its parts point at each other
  TimeHardware& operator=(const TimeHardware&) = delete;

  // Told, or measured in 150 microseconds against the HPET that `tables` name, else against the 8254.
  Result<CycleRate> cycle_rate(const AcpiTables* tables, KernelMemory& memory);

  // Rings call the handler, on the CPU that asked for it. Then attach_cpu on each CPU.
  Result<void> start_alarm(InterruptHardware& interrupts, InterruptTable& table, const MonotonicClock& clock,
                           InterruptHandler handler);
  void attach_cpu() {
    if (apic_alarm_) apic_alarm_->attach_cpu();
  }
  // Precondition of both: start_alarm.
  TimerAlarm& alarm() { return apic_alarm_ ? static_cast<TimerAlarm&>(*apic_alarm_) : *interval_alarm_; }
  std::string_view alarm_name() const;

 private:
  std::optional<Hpet> find_hpet(const AcpiTables* tables, KernelMemory& memory);

  MappedRegisters hpet_registers_;
  std::optional<ApicAlarm> apic_alarm_;
  std::optional<IntervalAlarm> interval_alarm_;
};

}  // namespace ingot::os
