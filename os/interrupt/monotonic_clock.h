// MonotonicClock: nanoseconds since the kernel's first instruction, the same on every CPU.
#pragma once

#include <cstdint>

#include "os/arch/arch.h"
#include "os/interrupt/cycle_clock.h"

namespace ingot::os {

class MonotonicClock {
 public:
  MonotonicClock(CycleClock rate, std::uint64_t start_cycles) : rate_(rate), start_cycles_(start_cycles) {}

  Nanoseconds now() const { return rate_.nanoseconds(cycles_since_start()); }
  std::uint64_t cycles_since_start() const {
    // In one piece: on another CPU the offset is another.
    const InterruptsOff quiet;
    return arch::cycle_count() + arch::current_cpu().cycle_offset - start_cycles_;
  }
  // What this CPU's counter shows at a time.
  std::uint64_t cycles_at(Nanoseconds time) const {
    const std::uint64_t cycles = rate_.cycles(time);
    const std::uint64_t most = ~std::uint64_t{0} - start_cycles_;
    return (cycles < most ? cycles : most) + start_cycles_ - arch::current_cpu().cycle_offset;
  }
  const CycleClock& rate() const { return rate_; }

 private:
  CycleClock rate_;
  std::uint64_t start_cycles_;
};

}  // namespace ingot::os
