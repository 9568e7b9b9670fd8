// Clocks as calls name them (man 2 clock_gettime).
#pragma once

#include <cstdint>
#include <optional>

#include "base/units.h"
#include "os/syscall/system_call.h"

namespace ingot::os {

enum class Clock : std::uint32_t {
  real_time = 0,         // CLOCK_REALTIME
  monotonic = 1,         // CLOCK_MONOTONIC
  process_time = 2,      // CLOCK_PROCESS_CPUTIME_ID
  thread_time = 3,       // CLOCK_THREAD_CPUTIME_ID
  raw_monotonic = 4,     // CLOCK_MONOTONIC_RAW
  coarse_real_time = 5,  // CLOCK_REALTIME_COARSE
  coarse_monotonic = 6,  // CLOCK_MONOTONIC_COARSE
  boot_time = 7          // CLOCK_BOOTTIME
};

// A clock of CPU time: of one thread, or of all (0).
struct ProcessorClock {
  std::uint32_t thread = 0;
};
// Nothing: a clock of another kind. EINVAL: of nobody.
Answer<std::optional<ProcessorClock>> processor_clock(Caller& caller, Clock clock);

// EINVAL: there is no such clock.
Answer<Nanoseconds> time_of(Caller& caller, Clock clock);

}  // namespace ingot::os
