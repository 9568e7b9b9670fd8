// Edu: QEMU's teaching device (docs/specs/edu.txt there). It computes factorials, interrupts, and moves memory by
// itself: the proof that PCI works here.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "os/device/registers.h"
#include "os/memory/address.h"

namespace ingot::os {

class Edu {
 public:
  static constexpr std::uint16_t vendor = 0x1234, device = 0x11e8;
  static constexpr std::uint64_t reach = std::uint64_t{1} << 28;  // how much memory it can address
  static constexpr std::uint64_t most_bytes =
      4095;  // its buffer has 4096; QEMU 7.2 takes one that is full for too full

  // Fails where the registers do not look like its.
  static Result<Edu> create(Registers& registers);

  // It says so by an interrupt when the factorial is there.
  void start_factorial(std::uint32_t number);
  std::uint32_t factorial() const { return registers_->read(factorial_at); }

  // Between memory and its own buffer; an interrupt follows. Fails for memory out of its reach.
  Result<void> start_copy_from(PhysicalAddress memory, std::uint32_t bytes);
  Result<void> start_copy_to(PhysicalAddress memory, std::uint32_t bytes);
  bool is_copying() const { return (registers_->read(copy_command) & 1) != 0; }

  // For its handler: what it interrupted for, which it then takes back. 0: it was not this device.
  static constexpr std::uint32_t factorial_done = 1, copy_done = 0x100;
  std::uint32_t acknowledge();

 private:
  // Offsets of its registers. Those from 0x80 on have 64 bits; the lower 32 are enough for its reach.
  static constexpr std::uint32_t identity = 0x00, factorial_at = 0x08, status = 0x20, interrupt_cause = 0x24,
                                 interrupt_taken = 0x64, copy_source = 0x80, copy_target = 0x88, copy_bytes = 0x90,
                                 copy_command = 0x98;
  explicit Edu(Registers& registers) : registers_(&registers) {}
  Result<void> start_copy(std::uint64_t source, std::uint64_t target, std::uint32_t bytes, std::uint32_t command);

  Registers* registers_;
};

}  // namespace ingot::os
