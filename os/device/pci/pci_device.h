// PciDevice: one function as its driver sees it: its registers mapped, its interrupt connected, its access to memory
// allowed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/result.h"
#include "os/device/pci/pci.h"
#include "os/device/pci/pci_message_interrupts.h"
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
  // The memory behind a BAR. Only what is prefetchable, memory without side effects, may be cached in any way.
  struct Mapped {
    VirtualAddress begin;
    std::uint64_t bytes = 0;
  };
  Result<Mapped> map(std::uint32_t bar, KernelMemory& memory, CacheMode cache = CacheMode::uncached) const;

  // The device's messages come to these handlers, each on its CPU: all of them are connected, or none. By MSI-X; MSI
  // serves where there is one target only. The device's other way, the line, is off then.
  struct MessageTarget {
    InterruptHandler handler;
    std::uint32_t cpu = 0;
  };
  struct MessageServices {
    InterruptController& controller;
    InterruptTable& table;
    KernelMemory& memory;
  };
  static constexpr std::size_t most_messages = 64;
  // As many as it could have: how many queues of its own a driver makes. 0: it has a line only.
  std::size_t message_count() const;
  // vectors[i] is what targets[i] got, for disconnect_messages. Precondition: both have one length.
  Result<void> connect_messages(const MessageServices& services, std::span<const MessageTarget> targets,
                                std::span<std::uint8_t> vectors) const;
  void disconnect_messages(InterruptTable& table, std::span<const std::uint8_t> vectors) const;
  // By its line, as firmware wired it: what old devices have, and shared with others. The handler must silence the
  // device before it returns.
  Result<InterruptLine> line(const InterruptController& controller) const;

 private:
  void set_command(std::uint32_t on, std::uint32_t off) const;
  std::optional<MsiX> find_msi_x() const;
  std::optional<Msi> find_msi() const;
  Result<void> enable_messages(std::span<const InterruptMessage> messages, KernelMemory& memory) const;

  PciConfiguration* configuration_;
  PciAddress address_;
  PciHeader header_;
};

}  // namespace ingot::os
