// Places for devices whose memory nobody gave one: where a machine starts without firmware, BARs are zero.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "os/device/pci/pci.h"

namespace ingot::os {

// Addresses that the bus hands on to its devices, given out from the lowest up. It lies below 4 GiB, where every BAR
// can be.
class PciMemoryWindow {
 public:
  constexpr PciMemoryWindow(PhysicalAddress begin, std::uint64_t bytes) : next_(begin), end_(begin + bytes) {}

  // At a multiple of the size, which is a power of two, as a BAR's is.
  Result<PhysicalAddress> take(std::uint64_t bytes);

 private:
  PhysicalAddress next_, end_;
};

// Gives each memory BAR of a device that has no place one. Those that have one keep it; bridges and ports are left
// alone.
Result<void> place_pci_bars(PciConfiguration& configuration, PciAddress address, const PciHeader& header,
                            PciMemoryWindow& window);

}  // namespace ingot::os
