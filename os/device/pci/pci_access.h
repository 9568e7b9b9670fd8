// The two ways to PCI configuration space on a PC: a window in memory where the MCFG names one, else two ports.
#pragma once

#include <array>
#include <cstdint>

#include "os/device/acpi_platform.h"
#include "os/device/pci/pci_configuration.h"
#include "os/memory/kernel_memory.h"
#include "os/schedule/locked.h"

namespace ingot::os {

// Reaches segment 0 and the first 256 bytes of each function.
class PciPorts final : public PciConfiguration {
 public:
  // Whether somebody listens at the ports.
  static bool present();

  std::uint32_t read(PciAddress address, std::uint16_t offset) override;
  void write(PciAddress address, std::uint16_t offset, std::uint32_t value) override;

 private:
  struct Selector {};  // the right to use the pair of ports
  Locked<Selector, SharedWith::interrupts> selector_{LockRank::device};
};

// One window. A bus is mapped when it is first looked at: few of the 256 exist.
class PciMemory final : public PciConfiguration {
 public:
  PciMemory(const PciWindow& window, KernelMemory& memory) : window_(window), memory_(memory) {}

  std::uint32_t read(PciAddress address, std::uint16_t offset) override;
  void write(PciAddress address, std::uint16_t offset, std::uint32_t value) override;

 private:
  using Buses = std::array<VirtualAddress, 256>;  // 0: not mapped yet
  // The register, or null where the window does not reach or memory is short.
  volatile std::uint32_t* at(PciAddress address, std::uint16_t offset);

  PciWindow window_;
  KernelMemory& memory_;
  Locked<Buses, SharedWith::threads> buses_{LockRank::device};
};

}  // namespace ingot::os
