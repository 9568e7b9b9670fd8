#include "os/device/pci/pci_driver.h"

namespace ingot::os {

// Devices of virtio 1.0 and later carry their kind in the device number. Older ones, which also speak the new language,
// have a number of their own from 0x1000 on and their kind where boards have their name (4.1.2).
std::optional<std::uint16_t> virtio_kind_of(const PciHeader& header) {
  constexpr std::uint16_t vendor = 0x1af4, first_old = 0x1000, first_new = 0x1040, end = 0x1080;
  if (header.vendor != vendor || header.device < first_old || header.device >= end) return std::nullopt;
  return header.device < first_new ? header.subsystem : static_cast<std::uint16_t>(header.device - first_new);
}

bool PciMatch::matches(const PciHeader& header) const {
  switch (by_) {
    case By::identity: return header.vendor == first_ && header.device == second_;
    case By::device_class: return (header.base_class << 8 | header.sub_class) == first_ && header.interface == second_;
    case By::virtio: return virtio_kind_of(header) == first_;
  }
  return false;
}

const PciDriver* find_pci_driver(std::span<const PciDriver> table, const PciHeader& header) {
  for (const PciDriver& driver : table) {
    if (driver.match.matches(header)) return &driver;
  }
  return nullptr;
}

}  // namespace ingot::os
