// Interrupts as messages: a device writes a number to an address (PCI 3.0, 6.8). MSI keeps one message in configuration
// space, MSI-X a table of them in a BAR.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/result.h"
#include "os/device/pci/pci.h"
#include "os/device/registers.h"
#include "os/interrupt/interrupt_controller.h"

namespace ingot::os {

class Msi {
 public:
  static constexpr std::uint8_t capability = 0x05, bytes = 12;  // at least

  // `offset` is where find_pci_capability found it.
  static Msi read(PciConfiguration& configuration, PciAddress address, std::uint16_t offset);

  std::uint32_t most_messages() const { return 1u << (control_ >> 1 & 7); }
  bool is_64_bit() const { return (control_ & 0x80) != 0; }
  bool can_mask() const { return (control_ & 0x100) != 0; }

  // One message from now on, and pins no more.
  Result<void> enable(PciConfiguration& configuration, const InterruptMessage& message) const;
  void disable(PciConfiguration& configuration) const;

 private:
  PciAddress address_;
  std::uint16_t offset_ = 0;
  std::uint16_t control_ = 0;
};

class MsiX {
 public:
  static constexpr std::uint8_t capability = 0x11, bytes = 12;
  static constexpr std::uint32_t entry_bytes = 16;

  static MsiX read(PciConfiguration& configuration, PciAddress address, std::uint16_t offset);

  std::uint32_t entries() const { return (control_ & 0x7ffu) + 1; }
  std::uint32_t table_bar() const { return table_ & 7; }
  std::uint32_t table_offset() const { return table_ & ~7u; }
  // Whether the table lies inside the memory that `bar`, which it names, has.
  Result<void> check_table(const std::optional<PciBar>& bar) const;

  enum class State : std::uint8_t { off, on, on_but_masked };
  void set_state(PciConfiguration& configuration, State state) const;

  // An entry for each message, from the first on; the others stay masked. Precondition: there are as many entries, and
  // the state is on_but_masked.
  void write_table(Registers& table, std::span<const InterruptMessage> messages) const;

 private:
  PciAddress address_;
  std::uint16_t offset_ = 0;
  std::uint16_t control_ = 0;
  std::uint32_t table_ = 0;
};

}  // namespace ingot::os
