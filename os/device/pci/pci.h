// Finding PCI functions and reading their headers (PCI 3.0, chapter 6 and appendix; PCI-to-PCI bridges 1.2).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/result.h"
#include "os/device/pci/pci_configuration.h"
#include "os/memory/address.h"

namespace ingot::os {

struct PciHeader {
  std::uint16_t vendor = 0;
  std::uint16_t device = 0;
  std::uint8_t base_class = 0;
  std::uint8_t sub_class = 0;
  std::uint8_t interface = 0;
  std::uint8_t revision = 0;
  std::uint16_t subsystem = 0;  // of a device: what its vendor calls the board
  std::uint8_t layout = 0;      // 0: a device, 1: a bridge
  bool has_functions = false;
  std::uint8_t interrupt_line = 0;
  std::uint8_t interrupt_pin = 0;  // 1 to 4 are INTA to INTD; 0: none

  bool is_bridge() const { return layout == 1; }
};

// Nothing where nothing is plugged in.
std::optional<PciHeader> read_pci_header(PciConfiguration& configuration, PciAddress address);

// A base address register: where a function's memory or ports are.
struct PciBar {
  enum class Kind : std::uint8_t { ports, memory };
  Kind kind{};
  bool prefetchable = false;
  bool is_64_bit = false;  // then the next register is its upper half
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
};

// From what the registers held and what they show after ones were written to them; `high` counts for 64-bit ones only.
// Nothing when the register is not implemented.
struct PciBarProbe {
  std::uint32_t low = 0, low_after_ones = 0;
  std::uint32_t high = 0, high_after_ones = 0;
};
Result<std::optional<PciBar>> decode_pci_bar(const PciBarProbe& probe);

// Where the first of them is in configuration space; each has 4 bytes.
inline constexpr std::uint16_t first_pci_bar = 0x10;

// Asks the device for the size of register `index`, with its decoding off meanwhile; everything is put back. The upper
// half of a 64-bit one is refused.
Result<std::optional<PciBar>> probe_pci_bar(PciConfiguration& configuration, PciAddress address,
                                            const PciHeader& header, std::uint32_t index);

// The first capability with this number behind the offset `after`, with all its `bytes` inside configuration space. A
// list that leaves its range or turns in a circle ends there.
std::optional<std::uint16_t> find_pci_capability(PciConfiguration& configuration, PciAddress address,
                                                 std::uint8_t wanted, std::uint16_t bytes, std::uint16_t after = 0);

// The bus behind a bridge.
std::uint8_t secondary_bus(PciConfiguration& configuration, PciAddress address);

// Calls visit(PciAddress, const PciHeader&) for every function of one segment that can be reached from bus 0. Every bus
// is looked at once, whatever bridges claim.
template <class Visit>
void for_each_pci_function(PciConfiguration& configuration, std::uint16_t segment, Visit&& visit) {
  std::array<bool, 256> reached{true};
  bool found_more = true;
  std::array<bool, 256> looked_at{};
  while (std::exchange(found_more, false)) {
    for (unsigned bus = 0; bus < 256; ++bus) {
      if (!reached[bus] || std::exchange(looked_at[bus], true)) continue;
      found_more = true;
      for (std::uint8_t device = 0; device < 32; ++device) {
        for (std::uint8_t function = 0; function < 8; ++function) {
          const PciAddress address{segment, static_cast<std::uint8_t>(bus), device, function};
          const std::optional<PciHeader> header = read_pci_header(configuration, address);
          if (!header && function == 0) break;
          if (header) {
            visit(address, *header);
            if (header->is_bridge()) reached[secondary_bus(configuration, address)] = true;
            if (function == 0 && !header->has_functions) break;
          }
        }
      }
    }
  }
}

}  // namespace ingot::os
