// The 8254, the PC's oldest timer: what every other clock can be measured against.
#pragma once

#include <cstdint>

namespace ingot::os {

// Channel 2 beats no interrupt, only the speaker, which stays off.
class IntervalTimer {
 public:
  static constexpr std::uint64_t ticks_per_second = 1'193'182;

  // From 65536 downwards, and again.
  static void start();
  static std::uint16_t read();
};

}  // namespace ingot::os
