// Registers: 32-bit words of a device, each at its offset. Drivers see only this, so that a test can stand in.
#pragma once

#include <cstdint>

#include "os/memory/address.h"

namespace ingot::os {

class Registers {
 public:
  virtual std::uint32_t read(std::uint32_t offset) const = 0;
  virtual void write(std::uint32_t offset, std::uint32_t value) = 0;

 protected:
  ~Registers() = default;
};

// Registers in memory, mapped uncached.
class MappedRegisters final : public Registers {
 public:
  MappedRegisters() = default;
  explicit MappedRegisters(VirtualAddress address) : base_(address.value()) {}

  std::uint32_t read(std::uint32_t offset) const override { return *at(offset); }
  void write(std::uint32_t offset, std::uint32_t value) override { *at(offset) = value; }

 private:
  volatile std::uint32_t* at(std::uint32_t offset) const {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an address that the page table gave a meaning
    return reinterpret_cast<volatile std::uint32_t*>(base_ + offset);
  }
  std::uintptr_t base_ = 0;
};

}  // namespace ingot::os
