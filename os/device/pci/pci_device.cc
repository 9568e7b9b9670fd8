#include "os/device/pci/pci_device.h"

#include <algorithm>
#include <array>

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

Result<PciDevice::Mapped> PciDevice::map(std::uint32_t bar, KernelMemory& memory, CacheMode cache) const {
  const std::optional<PciBar> found = TRY(probe_pci_bar(*configuration_, address_, header_, bar));
  if (!found || found->kind != PciBar::Kind::memory || found->address == 0) {
    return Error::of(ErrorCode::not_found, "expected memory behind BAR ", bar, ", found none");
  }
  if (cache != CacheMode::uncached && !found->prefetchable) {
    return Error::of(ErrorCode::invalid_argument, "expected prefetchable memory to cache behind BAR ", bar,
                     ", found registers");
  }
  return Mapped{TRY(memory.map_device(PhysicalAddress(found->address), found->bytes, cache)), found->bytes};
}

std::optional<MsiX> PciDevice::find_msi_x() const {
  const auto offset = find_pci_capability(*configuration_, address_, MsiX::capability, MsiX::bytes);
  if (!offset) return std::nullopt;
  return MsiX::read(*configuration_, address_, *offset);
}

std::optional<Msi> PciDevice::find_msi() const {
  const auto offset = find_pci_capability(*configuration_, address_, Msi::capability, Msi::bytes);
  if (!offset) return std::nullopt;
  return Msi::read(*configuration_, address_, *offset);
}

std::size_t PciDevice::message_count() const {
  if (const std::optional<MsiX> msi_x = find_msi_x()) return std::min<std::size_t>(msi_x->entries(), most_messages);
  return find_msi() ? 1 : 0;
}

Result<void> PciDevice::enable_messages(std::span<const InterruptMessage> messages, KernelMemory& memory) const {
  const std::optional<MsiX> msi_x = find_msi_x();
  if (!msi_x) {
    const std::optional<Msi> msi = find_msi();
    if (msi) return msi->enable(*configuration_, messages[0]);
    return Error::of(ErrorCode::corrupt, "expected the messages that the device had a moment ago, found none");
  }
  const std::optional<PciBar> bar = TRY(probe_pci_bar(*configuration_, address_, header_, msi_x->table_bar()));
  TRY(msi_x->check_table(bar));
  const PhysicalAddress at(bar->address + msi_x->table_offset());
  MappedRegisters table(TRY(memory.map_device(at, msi_x->entries() * MsiX::entry_bytes, CacheMode::uncached)));
  msi_x->set_state(*configuration_, MsiX::State::on_but_masked);
  msi_x->write_table(table, messages);
  msi_x->set_state(*configuration_, MsiX::State::on);
  return {};
}

Result<void> PciDevice::connect_messages(const MessageServices& services, std::span<const MessageTarget> targets,
                                         std::span<std::uint8_t> vectors) const {
  if (targets.empty() || targets.size() > message_count()) {
    return Error::of(ErrorCode::unsupported, "expected a device with ", targets.size(), " messages, found one with ",
                     message_count());
  }
  std::array<InterruptMessage, most_messages> messages;
  std::size_t connected = 0;
  Result<void> outcome;
  for (const MessageTarget& target : targets) {
    auto found = services.controller.connect_message(services.table, target.handler, target.cpu);
    if (!found.ok()) {
      outcome = found.error();
      break;
    }
    vectors[connected] = found.value().vector;
    messages[connected++] = found.value().message;
  }
  if (outcome.ok()) outcome = enable_messages(std::span(messages).first(connected), services.memory);
  if (outcome.ok()) {
    set_command(line_off, 0);
  } else {
    for (const std::uint8_t vector : vectors.first(connected)) services.table.release(vector);
  }
  return outcome;
}

void PciDevice::disconnect_messages(InterruptTable& table, std::span<const std::uint8_t> vectors) const {
  if (const std::optional<MsiX> msi_x = find_msi_x()) {
    msi_x->set_state(*configuration_, MsiX::State::off);
  } else if (const std::optional<Msi> msi = find_msi()) {
    msi->disable(*configuration_);
  }
  set_command(0, line_off);
  for (const std::uint8_t vector : vectors) table.release(vector);
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
