// TimePage: what a program needs to tell the time by itself, in a page that it can only read. Written once, before the
// program begins: the kernel's clocks are never set anew.
#pragma once

#include <cstdint>

namespace ingot::os {

struct TimePage {
  // Whether every CPU's cycle counter shows the same; else the kernel must be asked.
  std::uint32_t counter_is_shared;
  // Whether RDTSCP tells the CPU's number.
  std::uint32_t tells_processor;
  std::uint64_t start_cycles;               // when the monotonic clock was 0
  std::uint64_t nanoseconds_times_2_to_32;  // of one cycle
  std::int64_t wall_time_at_start;          // since 1970, in nanoseconds
};

}  // namespace ingot::os
