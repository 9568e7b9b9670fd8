// Time as who waits for something sees it.
#pragma once

#include <chrono>

namespace ingot {

using WallClock = std::chrono::steady_clock;

inline double seconds_between(WallClock::time_point from, WallClock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

}  // namespace ingot
