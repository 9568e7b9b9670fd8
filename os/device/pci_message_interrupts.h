// Interrupts as messages: a device writes a number to an address (PCI 3.0, 6.8). MSI keeps one message in configuration
// space, MSI-X a table of them in a BAR.
#pragma once

#include <array>
#include <cstdint>

#include "base/result.h"
#include "os/device/pci.h"
#include "os/interrupt/interrupt_controller.h"

namespace ingot::os {

class Msi {
 public:
  static constexpr std::uint8_t capability = 0x05;

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
  static constexpr std::uint8_t capability = 0x11;
  static constexpr std::uint32_t entry_bytes = 16;

  static MsiX read(PciConfiguration& configuration, PciAddress address, std::uint16_t offset);

  std::uint32_t entries() const { return (control_ & 0x7ffu) + 1; }
  std::uint32_t table_bar() const { return table_ & 7; }
  std::uint32_t table_offset() const { return table_ & ~7u; }
  // Whether the table lies inside the memory it names.
  Result<void> check_table(const PciBar& bar) const;

  enum class State : std::uint8_t { off, on, on_but_masked };
  void set_state(PciConfiguration& configuration, State state) const;

  // What one entry of the table holds for a message; written word by word, the control word last.
  enum class Mask : std::uint8_t { off, on };
  static constexpr std::array<std::uint32_t, 4> entry_of(const InterruptMessage& message, Mask mask) {
    return {static_cast<std::uint32_t>(message.address), static_cast<std::uint32_t>(message.address >> 32),
            message.data, mask == Mask::on ? 1u : 0u};
  }

 private:
  PciAddress address_;
  std::uint16_t offset_ = 0;
  std::uint16_t control_ = 0;
  std::uint32_t table_ = 0;
};

}  // namespace ingot::os
