// How fast the CPU's cycle counter runs, measured against a timer of known rate.
#pragma once

#include <cstdint>

#include "base/result.h"

namespace ingot::os {

struct ReferenceTimer {
  std::uint64_t ticks_per_second;
  std::uint16_t mask;  // its counter runs downwards and wraps here
};

// read_ticks() is the reference's counter, read_cycles() the one to measure. Both ends of the measurement lie at a
// change of the reference, so it is wrong by the time of one reading at most. Takes about ticks / ticks_per_second.
template <class ReadTicks, class ReadCycles>
Result<std::uint64_t> measure_cycles_per_second(ReferenceTimer timer, std::uint16_t ticks, ReadTicks&& read_ticks,
                                                ReadCycles&& read_cycles) {
  // Longer than any tick takes at the slowest reading; a timer that is not there never changes.
  constexpr std::uint64_t patience = 1'000'000;
  const auto await_change = [&](std::uint16_t from) {
    std::uint16_t now = from;
    for (std::uint64_t tries = 0; now == from && tries < patience; ++tries) now = read_ticks();
    return now;
  };
  const std::uint16_t idle = read_ticks();
  const std::uint16_t first = await_change(idle);
  const std::uint64_t first_cycles = read_cycles();
  std::uint16_t last = first, elapsed = 0;
  if (first != idle) {
    while (elapsed < ticks) {
      const std::uint16_t next = await_change(last);
      if (next == last) break;
      last = next;
      elapsed = static_cast<std::uint16_t>((first - last) & timer.mask);
    }
  }
  const std::uint64_t cycles = read_cycles() - first_cycles;
  if (elapsed < ticks) {
    return Error::of(ErrorCode::unsupported, "expected a timer that counts ", ticks, " ticks, found it at rest after ",
                     elapsed);
  }
  return cycles * timer.ticks_per_second / elapsed;
}

}  // namespace ingot::os
