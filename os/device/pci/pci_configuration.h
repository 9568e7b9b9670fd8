// PCI configuration space: 256 bytes (4096 on PCI Express) of registers for each function of each device.
#pragma once

#include <cstdint>

namespace ingot::os {

struct PciAddress {
  std::uint16_t segment = 0;
  std::uint8_t bus = 0;
  std::uint8_t device = 0;    // 0 to 31
  std::uint8_t function = 0;  // 0 to 7

  bool operator==(const PciAddress&) const = default;

  // Inside a window of configuration space in memory (MCFG).
  constexpr std::uint64_t window_offset() const {
    return std::uint64_t{bus} << 20 | std::uint64_t{device} << 15 | std::uint64_t{function} << 12;
  }
  // What the port 0xcf8 wants to hear before 0xcfc shows the register.
  constexpr std::uint32_t port_selector(std::uint16_t offset) const {
    return 1u << 31 | std::uint32_t{bus} << 16 | std::uint32_t{device} << 11 | std::uint32_t{function} << 8 |
           (offset & 0xfcu);
  }
};

// How to get there: through a window in memory, through ports, or, in a test, an array.
class PciConfiguration {
 public:
  // Whole registers: offset is a multiple of 4. What is not there reads as ones and ignores writes.
  virtual std::uint32_t read(PciAddress address, std::uint16_t offset) = 0;
  virtual void write(PciAddress address, std::uint16_t offset, std::uint32_t value) = 0;

  // Fields smaller than a register, at their natural alignment.
  std::uint8_t read_8(PciAddress address, std::uint16_t offset) {
    return static_cast<std::uint8_t>(read(address, offset & 0xfffcu) >> (8 * (offset & 3)));
  }
  std::uint16_t read_16(PciAddress address, std::uint16_t offset) {
    return static_cast<std::uint16_t>(read(address, offset & 0xfffcu) >> (8 * (offset & 2)));
  }

 protected:
  ~PciConfiguration() = default;
};

}  // namespace ingot::os
