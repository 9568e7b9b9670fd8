// PciDriver: which driver serves which device. A constant table of them is shown every function once, at boot
// (PciBus::start_drivers); the first row that matches a function serves it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/result.h"
#include "os/device/pci/pci_device.h"

namespace ingot::os {

struct Kernel;

// What a virtio device is: 1 a network card, 2 a disk, ... (virtio 1.2, chapter 5). Nothing for other devices.
std::optional<std::uint16_t> virtio_kind_of(const PciHeader& header);

// The devices that a row is for.
class PciMatch {
 public:
  static constexpr PciMatch identity(std::uint16_t vendor, std::uint16_t device) {
    return {By::identity, vendor, device};
  }
  static constexpr PciMatch device_class(std::uint8_t base_class, std::uint8_t sub_class, std::uint8_t interface) {
    return {By::device_class, static_cast<std::uint16_t>(base_class << 8 | sub_class), interface};
  }
  static constexpr PciMatch virtio(std::uint16_t kind) { return {By::virtio, kind, 0}; }

  bool matches(const PciHeader& header) const;

 private:
  enum class By : std::uint8_t { identity, device_class, virtio };
  constexpr PciMatch(By by, std::uint16_t first, std::uint16_t second) : by_(by), first_(first), second_(second) {}

  By by_;
  std::uint16_t first_, second_;
};

struct PciDriver {
  std::string_view name;
  PciMatch match;
  // Takes the device over, for as long as the machine runs. A failure is told in the log, and the device left alone.
  Result<void> (*create)(Kernel& kernel, const PciDevice& device);
};

// nullptr: nobody serves such a device.
const PciDriver* find_pci_driver(std::span<const PciDriver> table, const PciHeader& header);

}  // namespace ingot::os
