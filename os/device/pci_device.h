// PciDevice: one function as its driver sees it: its registers mapped, its interrupt connected, its access to memory
// allowed.
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "os/device/pci.h"
#include "os/interrupt/interrupt_controller.h"
#include "os/memory/kernel_memory.h"

namespace ingot::os {

class PciDevice {
 public:
  PciDevice(PciConfiguration& configuration, PciAddress address, const PciHeader& header)
      : configuration_(&configuration), address_(address), header_(header) {}
  // The first function with these numbers in segment 0.
  static std::optional<PciDevice> find(PciConfiguration& configuration, std::uint16_t vendor, std::uint16_t device);

  PciAddress address() const { return address_; }
  const PciHeader& header() const { return header_; }

  // From now on it answers at its addresses, and may read and write memory.
  void enable() const;
  // The memory behind a BAR, uncached.
  struct Mapped {
    VirtualAddress begin;
    std::uint64_t bytes = 0;
  };
  Result<Mapped> map(std::uint32_t bar, KernelMemory& memory) const;

  // Interrupts of the device come to `handler` on `cpu`: by MSI-X (its first message), else by MSI. Its other way, the
  // line, is off then. Returns the vector.
  Result<std::uint8_t> connect_message(InterruptController& controller, InterruptTable& table, KernelMemory& memory,
                                       InterruptHandler handler, std::uint32_t cpu) const;
  void disconnect_message(InterruptTable& table, std::uint8_t vector) const;
  // By its line, as firmware wired it: what old devices have, and shared with others. The handler must silence the
  // device before it returns.
  Result<InterruptLine> line(const InterruptController& controller) const;

 private:
  void set_command(std::uint32_t on, std::uint32_t off) const;
  Result<void> enable_message(const InterruptMessage& message, KernelMemory& memory) const;

  PciConfiguration* configuration_;
  PciAddress address_;
  PciHeader header_;
};

}  // namespace ingot::os
