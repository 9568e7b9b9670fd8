#include "os/device/pci/pci_message_interrupts.h"

namespace ingot::os {
namespace {

// The control word is the upper half of the capability's first register; the lower names the capability.
void write_control(PciConfiguration& configuration, PciAddress address, std::uint16_t offset, std::uint32_t control) {
  const std::uint32_t names = configuration.read(address, offset) & 0xffff;
  configuration.write(address, offset, control << 16 | names);
}

std::uint16_t behind(std::uint16_t offset, unsigned bytes) { return static_cast<std::uint16_t>(offset + bytes); }

}  // namespace

Msi Msi::read(PciConfiguration& configuration, PciAddress address, std::uint16_t offset) {
  Msi msi;
  msi.address_ = address;
  msi.offset_ = offset;
  msi.control_ = static_cast<std::uint16_t>(configuration.read(address, offset) >> 16);
  return msi;
}

Result<void> Msi::enable(PciConfiguration& configuration, const InterruptMessage& message) const {
  if (message.data > 0xffff || (message.address & 3) != 0 || (!is_64_bit() && message.address >> 32 != 0)) {
    return Error::of(ErrorCode::invalid_argument, "expected 16 bits of data for an aligned address of ",
                     is_64_bit() ? 64 : 32, " bits, found ", message.data, " for ", PhysicalAddress(message.address));
  }
  if (const unsigned end = offset_ + bytes + (is_64_bit() ? 4u : 0u) + (can_mask() ? 8u : 0u); end > 0x100) {
    return Error::of(ErrorCode::corrupt, "expected MSI's registers inside 256 bytes, found their end at ", end);
  }
  configuration.write(address_, behind(offset_, 4), static_cast<std::uint32_t>(message.address));
  std::uint16_t next = behind(offset_, 8);
  if (is_64_bit()) {
    configuration.write(address_, next, static_cast<std::uint32_t>(message.address >> 32));
    next = behind(next, 4);
  }
  configuration.write(address_, next, message.data);
  if (can_mask()) configuration.write(address_, behind(next, 4), 0);
  // Enabled, and one message only: bits 4 to 6 hold the logarithm of how many.
  write_control(configuration, address_, offset_, (control_ & ~0x70u) | 1);
  return {};
}

void Msi::disable(PciConfiguration& configuration) const {
  write_control(configuration, address_, offset_, control_ & ~1u);
}

MsiX MsiX::read(PciConfiguration& configuration, PciAddress address, std::uint16_t offset) {
  MsiX msix;
  msix.address_ = address;
  msix.offset_ = offset;
  msix.control_ = static_cast<std::uint16_t>(configuration.read(address, offset) >> 16);
  msix.table_ = configuration.read(address, behind(offset, 4));
  return msix;
}

Result<void> MsiX::check_table(const std::optional<PciBar>& bar) const {
  const std::uint64_t end = std::uint64_t{table_offset()} + std::uint64_t{entries()} * entry_bytes;
  const bool is_memory = bar && bar->kind == PciBar::Kind::memory && bar->address != 0;
  if (is_memory && end <= bar->bytes) return {};
  return Error::of(ErrorCode::corrupt, "expected an MSI-X table inside the ", is_memory ? bar->bytes : 0,
                   " bytes of BAR ", table_bar(), ", found its end at ", end);
}

// The control word, whose first bit masks the entry, comes last: what is half written is not sent.
void MsiX::write_table(Registers& table, std::span<const InterruptMessage> messages) const {
  constexpr std::uint32_t masked = 1;
  for (std::uint32_t entry = 0; entry < entries(); ++entry) {
    const std::uint32_t offset = entry * entry_bytes;
    table.write(offset + 12, masked);
    if (entry >= messages.size()) continue;
    table.write(offset, static_cast<std::uint32_t>(messages[entry].address));
    table.write(offset + 4, static_cast<std::uint32_t>(messages[entry].address >> 32));
    table.write(offset + 8, messages[entry].data);
    table.write(offset + 12, 0);
  }
}

void MsiX::set_state(PciConfiguration& configuration, State state) const {
  std::uint32_t control = control_ & ~0xc000u;
  if (state != State::off) control |= 0x8000;
  if (state == State::on_but_masked) control |= 0x4000;
  write_control(configuration, address_, offset_, control);
}

}  // namespace ingot::os
