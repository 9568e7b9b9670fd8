// Two tables that name one device each: MCFG (PCI configuration in memory) and HPET (a timer).
#pragma once

#include <cstdint>

#include "base/result.h"
#include "os/device/acpi_bytes.h"
#include "os/device/fixed_list.h"

namespace ingot::os {

// The configuration space of some buses: 4 KiB a function, 1 MiB a bus, bus 0 at `address` even if it is not among
// them.
struct PciWindow {
  PhysicalAddress address;
  std::uint16_t segment = 0;
  std::uint8_t first_bus = 0;
  std::uint8_t last_bus = 0;
};
using PciWindows = FixedList<PciWindow, 16>;

// `table` is the checked MCFG.
inline Result<PciWindows> parse_pci_windows(TableBytes table) {
  PciWindows windows;
  for (std::size_t offset = 44; offset + 16 <= table.size(); offset += 16) {
    const PciWindow window{
        PhysicalAddress(number_inside<std::uint64_t>(table, offset)), number_inside<std::uint16_t>(table, offset + 8),
        number_inside<std::uint8_t>(table, offset + 10), number_inside<std::uint8_t>(table, offset + 11)};
    if (window.first_bus > window.last_bus || !window.address.aligned(std::uint64_t{1} << 20)) {
      return Error::of(ErrorCode::corrupt, "expected PCI buses in order at a multiple of 1 MiB, found ",
                       window.first_bus, " to ", window.last_bus, " at ", window.address);
    }
    if (!windows.add(window)) {
      return Error::of(ErrorCode::unsupported, "expected at most 16 PCI windows, found more");
    }
  }
  return windows;
}

// `table` is the checked HPET. Returns where its registers are.
inline Result<PhysicalAddress> parse_hpet(TableBytes table) {
  const auto space = TRY(number_at<std::uint8_t>(table, 40));
  const auto address = TRY(number_at<std::uint64_t>(table, 44));
  if (space != 0 || address == 0) {
    return Error::of(ErrorCode::unsupported, "expected the HPET in memory, found address space ", space, " at ",
                     PhysicalAddress(address));
  }
  return PhysicalAddress(address);
}

}  // namespace ingot::os
