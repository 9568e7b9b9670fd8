// The MADT: which CPUs there are, and how interrupts reach them (ACPI 6.5, 5.2.12).
#pragma once

#include <cstdint>

#include "base/result.h"
#include "os/device/acpi_bytes.h"
#include "os/device/fixed_list.h"
#include "os/interrupt/interrupt_controller.h"

namespace ingot::os {

struct AcpiProcessor {
  std::uint32_t firmware_id = 0;  // how other tables call it
  std::uint32_t apic_id = 0;
  bool enabled = false;         // can be started now
  bool can_be_enabled = false;  // not there yet; may be plugged in
};

struct AcpiIoApic {
  std::uint8_t id = 0;
  PhysicalAddress address;
  std::uint32_t first_interrupt = 0;  // the global number of its first input
};

// An ISA interrupt that arrives elsewhere than at the input of its own number.
struct AcpiInterruptOverride {
  std::uint8_t isa_interrupt = 0;
  std::uint32_t global_interrupt = 0;
  Polarity polarity = Polarity::as_the_bus;
  Trigger trigger = Trigger::as_the_bus;
};

struct AcpiInterrupts {
  static constexpr std::size_t most_processors = 256;

  PhysicalAddress local_apic;
  bool has_legacy_pics = false;
  FixedList<AcpiProcessor, most_processors> processors;
  std::uint32_t processors_left_out = 0;  // beyond the most
  FixedList<AcpiIoApic, 16> io_apics;
  FixedList<AcpiInterruptOverride, 16> overrides;

  // Into `interrupts`, because it is too large for a kernel stack to hold twice. `table` is the checked MADT ("APIC").
  static Result<void> parse(TableBytes table, AcpiInterrupts& interrupts);
};

}  // namespace ingot::os
