#include "os/device/interrupt_hardware.h"

namespace ingot::os {

Result<void> InterruptHardware::start(const AcpiInterrupts* table, KernelMemory& memory) {
  LegacyPic::silence();
  const LocalApicFeatures features = LocalApicFeatures::read();
  if (!features.present) return {};
  constexpr PhysicalAddress usual_place(0xfee00000);
  TRY(start_local(table != nullptr ? table->local_apic : usual_place, memory, features.x2apic));
  if (table != nullptr) return start_io(*table, memory);
  local_->pass_8259s();
  return {};
}

Result<void> InterruptHardware::start_local(PhysicalAddress place, KernelMemory& memory, bool x2apic) {
  LocalApicRegisters* registers = nullptr;
  if (x2apic) {
    registers = &x2apic_.emplace();
  } else {
    local_registers_ = MappedRegisters(TRY(memory.map_device(place, page_bytes, CacheMode::uncached)));
    registers = &xapic_.emplace(local_registers_);
  }
  local_.emplace(*registers).enable();
  return {};
}

Result<void> InterruptHardware::start_io(const AcpiInterrupts& table, KernelMemory& memory) {
  std::size_t count = 0;
  for (const AcpiIoApic& found : table.io_apics.all()) {
    io_registers_[count] = MappedRegisters(TRY(memory.map_device(found.address, page_bytes, CacheMode::uncached)));
    io_apic_list_[count] = &io_apics_[count].emplace(io_registers_[count], found.first_interrupt);
    ++count;
  }
  apics_.emplace(*local_, std::span(io_apic_list_).first(count), table);
  return {};
}

}  // namespace ingot::os
