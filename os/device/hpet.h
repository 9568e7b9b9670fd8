// The high-precision event timer: a counter of known rate, by one read of memory (IA-PC HPET 1.0a). Only that of it is
// used: each CPU has a better alarm of its own.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "os/device/registers.h"

namespace ingot::os {

class Hpet {
 public:
  // Lets the counter run.
  static Result<Hpet> create(Registers& registers) {
    constexpr std::uint32_t period_at = 0x4, configuration = 0x10, runs = 1;
    constexpr std::uint32_t longest_period = 100'000'000;  // femtoseconds; the specification's bound
    const std::uint32_t period = registers.read(period_at);
    if (period == 0 || period > longest_period) {
      return Error::of(ErrorCode::corrupt, "expected an HPET tick of 1 to ", longest_period, " femtoseconds, found ",
                       period);
    }
    registers.write(configuration, registers.read(configuration) | runs);
    return Hpet(registers, 1'000'000'000'000'000u / period);
  }

  std::uint64_t ticks_per_second() const { return ticks_per_second_; }
  // The lower half of its counter, which runs upwards.
  std::uint32_t read() const {
    constexpr std::uint32_t counter = 0xf0;
    return registers_->read(counter);
  }

 private:
  Hpet(Registers& registers, std::uint64_t rate) : registers_(&registers), ticks_per_second_(rate) {}

  Registers* registers_;
  std::uint64_t ticks_per_second_;
};

}  // namespace ingot::os
