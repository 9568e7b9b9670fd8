#include "os/device/interrupt_hardware.h"

namespace ingot::os {

Result<void> InterruptHardware::start(const AcpiInterrupts* table, KernelMemory& memory) {
  LegacyPic::silence();
  const LocalApicFeatures features = LocalApicFeatures::read();
  if (table == nullptr || !features.present) return {};
  return start_apics(*table, memory, features.x2apic);
}

Result<void> InterruptHardware::start_apics(const AcpiInterrupts& table, KernelMemory& memory, bool x2apic) {
  LocalApicRegisters* registers = nullptr;
  if (x2apic) {
    registers = &x2apic_.emplace();
  } else {
    local_registers_ = MappedRegisters(TRY(memory.map_device(table.local_apic, page_bytes, CacheMode::uncached)));
    registers = &xapic_.emplace(local_registers_);
  }
  std::size_t count = 0;
  for (const AcpiIoApic& found : table.io_apics.all()) {
    io_registers_[count] = MappedRegisters(TRY(memory.map_device(found.address, page_bytes, CacheMode::uncached)));
    io_apic_list_[count] = &io_apics_[count].emplace(io_registers_[count], found.first_interrupt);
    ++count;
  }
  local_.emplace(*registers).enable();
  apics_.emplace(*local_, std::span(io_apic_list_).first(count), table);
  return {};
}

}  // namespace ingot::os
