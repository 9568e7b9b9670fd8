#include "os/device/pci_device.h"

#include "os/device/pci_message_interrupts.h"

namespace ingot::os {

namespace {

constexpr std::uint16_t pci_command = 0x04;
constexpr std::uint32_t answer_ports = 1, answer_memory = 2, use_memory = 4, line_off = 1u << 10;

}  // namespace

std::optional<PciDevice> PciDevice::find(PciConfiguration& configuration, std::uint16_t vendor, std::uint16_t device) {
  std::optional<PciDevice> found;
  for_each_pci_function(configuration, 0, [&](PciAddress address, const PciHeader& header) {
    if (!found && header.vendor == vendor && header.device == device) found.emplace(configuration, address, header);
  });
  return found;
}

void PciDevice::set_command(std::uint32_t on, std::uint32_t off) const {
  // The status half clears where ones are written: zeros leave it.
  const std::uint32_t command = configuration_->read(address_, pci_command) & 0xffff;
  configuration_->write(address_, pci_command, (command & ~off) | on);
}

void PciDevice::enable() const { set_command(answer_ports | answer_memory | use_memory, 0); }

Result<PciDevice::Mapped> PciDevice::map(std::uint32_t bar, KernelMemory& memory) const {
  const std::optional<PciBar> found = TRY(probe_pci_bar(*configuration_, address_, header_, bar));
  if (!found || found->kind != PciBar::Kind::memory || found->address == 0) {
    return Error::of(ErrorCode::not_found, "expected memory behind BAR ", bar, ", found none");
  }
  const VirtualAddress begin =
      TRY(memory.map_device(PhysicalAddress(found->address), found->bytes, CacheMode::uncached));
  return Mapped{begin, found->bytes};
}

Result<void> PciDevice::enable_message(const InterruptMessage& message, KernelMemory& memory) const {
  if (const auto offset = find_pci_capability(*configuration_, address_, MsiX::capability)) {
    const MsiX msix = MsiX::read(*configuration_, address_, *offset);
    const std::optional<PciBar> bar = TRY(probe_pci_bar(*configuration_, address_, header_, msix.table_bar()));
    TRY(msix.check_table(bar.value_or(PciBar{})));
    const PhysicalAddress at(bar->address + msix.table_offset());
    const VirtualAddress table = TRY(memory.map_device(at, MsiX::entry_bytes, CacheMode::uncached));
    msix.set_state(*configuration_, MsiX::State::on_but_masked);
    auto* word = reinterpret_cast<volatile std::uint32_t*>(table.value());
    for (const std::uint32_t value : MsiX::entry_of(message, MsiX::Mask::off)) *word++ = value;
    msix.set_state(*configuration_, MsiX::State::on);
    return {};
  }
  if (const auto offset = find_pci_capability(*configuration_, address_, Msi::capability)) {
    return Msi::read(*configuration_, address_, *offset).enable(*configuration_, message);
  }
  return Error::of(ErrorCode::unsupported, "expected a device with MSI or MSI-X, found neither");
}

Result<std::uint8_t> PciDevice::connect_message(InterruptController& controller, InterruptTable& table,
                                                KernelMemory& memory, InterruptHandler handler,
                                                std::uint32_t cpu) const {
  const MessageInterrupt interrupt = TRY(controller.connect_message(table, handler, cpu));
  if (const Result<void> enabled = enable_message(interrupt.message, memory); !enabled.ok()) {
    table.release(interrupt.vector);
    return enabled.error();
  }
  set_command(line_off, 0);
  return interrupt.vector;
}

void PciDevice::disconnect_message(InterruptTable& table, std::uint8_t vector) const {
  if (const auto offset = find_pci_capability(*configuration_, address_, MsiX::capability)) {
    MsiX::read(*configuration_, address_, *offset).set_state(*configuration_, MsiX::State::off);
  } else if (const auto older = find_pci_capability(*configuration_, address_, Msi::capability)) {
    Msi::read(*configuration_, address_, *older).disable(*configuration_);
  }
  set_command(0, line_off);
  table.release(vector);
}

Result<InterruptLine> PciDevice::line(const InterruptController& controller) const {
  if (header_.interrupt_pin == 0 || header_.interrupt_line >= 16) {
    return Error::of(ErrorCode::not_found, "expected a line that firmware chose, found ", header_.interrupt_line);
  }
  // Lines of PCI are levels; which one is active, a table says where it is not as the bus has it.
  InterruptLine found = controller.isa_line(header_.interrupt_line);
  found.trigger = Trigger::level;
  return found;
}

}  // namespace ingot::os
