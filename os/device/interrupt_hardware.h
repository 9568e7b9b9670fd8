// InterruptHardware: finds out which interrupt controllers this PC has, and starts them.
#pragma once

#include <array>
#include <optional>

#include "os/device/apic_controller.h"
#include "os/device/legacy_pic.h"
#include "os/memory/kernel_memory.h"

namespace ingot::os {

class InterruptHardware {
 public:
  InterruptHardware() = default;
  InterruptHardware(const InterruptHardware&) = delete;  // its parts point at each other
  InterruptHardware& operator=(const InterruptHardware&) = delete;

  // On the CPU that booted. `table`: the MADT; without one, or without a local APIC, the 8259s serve.
  Result<void> start(const AcpiInterrupts* table, KernelMemory& memory);

  // Precondition: started.
  InterruptController& controller() { return apics_ ? static_cast<InterruptController&>(*apics_) : legacy_; }
  // None: the 8259s serve, and this CPU is the only one.
  ApicController* apics() { return apics_ ? &*apics_ : nullptr; }

 private:
  static constexpr std::size_t most_io_apics = 16;

  Result<void> start_local(PhysicalAddress place, KernelMemory& memory, bool x2apic);
  Result<void> start_io(const AcpiInterrupts& table, KernelMemory& memory);

  LegacyPic legacy_;
  MappedRegisters local_registers_;
  std::optional<XApicRegisters> xapic_;
  std::optional<X2ApicRegisters> x2apic_;
  std::optional<LocalApic> local_;
  std::array<MappedRegisters, most_io_apics> io_registers_{};
  std::array<std::optional<IoApic>, most_io_apics> io_apics_{};
  std::array<IoApic*, most_io_apics> io_apic_list_{};
  std::optional<ApicController> apics_;
};

}  // namespace ingot::os
