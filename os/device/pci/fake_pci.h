// PCI configuration space as tests plug it together.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <tuple>

#include "os/device/pci/pci_configuration.h"

namespace ingot::os {

// Functions as arrays of registers. A register's mask says which of its bits can be written.
class FakePci : public PciConfiguration {
 public:
  struct Function {
    std::uint32_t registers[64] = {};
    std::uint32_t writable[64] = {};
  };
  Function& plug(PciAddress address) { return functions_[key(address)]; }

  std::uint32_t read(PciAddress address, std::uint16_t offset) override {
    EXPECT_EQ(offset % 4, 0);
    ++reads;
    const auto found = functions_.find(key(address));
    return found == functions_.end() || offset >= 256 ? 0xffffffffu : found->second.registers[offset / 4];
  }
  void write(PciAddress address, std::uint16_t offset, std::uint32_t value) override {
    const auto found = functions_.find(key(address));
    if (found == functions_.end() || offset >= 256) return;
    const std::uint32_t mask = found->second.writable[offset / 4];
    std::uint32_t& target = found->second.registers[offset / 4];
    target = (target & ~mask) | (value & mask);
  }
  std::uint64_t reads = 0;

 private:
  static std::tuple<int, int, int> key(PciAddress address) { return {address.bus, address.device, address.function}; }
  std::map<std::tuple<int, int, int>, Function> functions_;
};

}  // namespace ingot::os
