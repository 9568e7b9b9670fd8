#include "os/device/time_hardware.h"

#include "os/device/acpi_platform.h"
#include "os/interrupt/vectors.h"

namespace ingot::os {

Result<CycleRate> TimeHardware::cycle_rate(const AcpiTables* tables, KernelMemory& memory) {
  if (const CycleRate told = told_cycle_rate(); told.cycles_per_second != 0) return told;
  const std::optional<Hpet> hpet = find_hpet(tables, memory);
  return measured_cycle_rate(hpet ? &*hpet : nullptr);
}

// One that is not there, or that its table describes wrongly, is no loss.
std::optional<Hpet> TimeHardware::find_hpet(const AcpiTables* tables, KernelMemory& memory) {
  if (tables == nullptr) return std::nullopt;
  const Result<TableBytes> table = tables->find("HPET");
  if (!table.ok()) return std::nullopt;
  const Result<PhysicalAddress> address = parse_hpet(table.value());
  if (!address.ok()) return std::nullopt;
  const Result<VirtualAddress> mapped = memory.map_device(address.value(), page_bytes, CacheMode::uncached);
  if (!mapped.ok()) return std::nullopt;
  hpet_registers_ = MappedRegisters(mapped.value());
  Result<Hpet> hpet = Hpet::create(hpet_registers_);
  return hpet.ok() ? std::optional(hpet.value()) : std::nullopt;
}

Result<void> TimeHardware::start_alarm(InterruptHardware& interrupts, InterruptTable& table,
                                       const MonotonicClock& clock, InterruptHandler handler) {
  if (ApicController* apics = interrupts.apics()) {
    apic_alarm_ = TRY(ApicAlarm::create(apics->local(), clock, LocalApicFeatures::read().cycle_deadline));
    return table.claim(vectors::timer, handler);
  }
  interval_alarm_ = TRY(IntervalAlarm::create(clock));
  InterruptController& controller = interrupts.controller();
  TRY(controller.connect(table, controller.isa_line(0), handler, 0));
  return {};
}

std::string_view TimeHardware::alarm_name() const {
  if (!apic_alarm_) return "the 8254";
  return apic_alarm_->rate() ? "local APICs" : "local APICs, by cycle deadline";
}

}  // namespace ingot::os
