// The rate of the CPU's cycle counter: told by the CPU or the hypervisor, else measured against a timer of the PC.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "os/device/hpet.h"

namespace ingot::os {

struct CycleRate {
  std::uint64_t cycles_per_second = 0;
  std::string_view source;
};

// Whether it counts alike at every speed of the CPU, and while the CPU sleeps. Else times are wrong by as much.
bool counts_evenly();

// Without measuring; 0 where nobody tells it.
CycleRate told_cycle_rate();
// Takes 150 microseconds. `hpet`: none, then the oldest timer serves.
Result<CycleRate> measured_cycle_rate(const Hpet* hpet);

}  // namespace ingot::os
