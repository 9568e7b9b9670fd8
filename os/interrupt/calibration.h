// How fast a counter runs, measured against a timer of known rate.
#pragma once

#include <cstdint>

#include "base/result.h"

namespace ingot::os {

struct ReferenceTimer {
  std::uint64_t ticks_per_second;
  std::uint32_t mask;  // its counter runs downwards and wraps here
};

namespace calibration {

struct Edge {
  std::uint32_t ticks;   // what the reference changed to
  std::uint64_t cycles;  // when it was seen
  std::uint64_t doubt;   // how much earlier it may have been
};

// The reference's next change; where it rests, an edge without one.
template <class ReadTicks, class ReadCycles>
Edge next_edge(std::uint32_t from, ReadTicks& read_ticks, ReadCycles& read_cycles) {
  // Longer than any tick takes at the slowest reading; a timer that is not there never changes.
  constexpr std::uint64_t patience = 1'000'000;
  std::uint64_t before = read_cycles();
  for (std::uint64_t tries = 0; tries < patience; ++tries) {
    const std::uint32_t now = read_ticks();
    const std::uint64_t after = read_cycles();
    if (now != from) return {now, after, after - before};
    before = after;
  }
  return {from, before, 0};
}

}  // namespace calibration

// read_ticks() is the reference's counter, read_cycles() the one to measure. Both ends of the measurement lie at a
// change of the reference, so it is wrong by the time of one reading at most. Takes about ticks / ticks_per_second, and
// again where a reading took long: a host may have taken the CPU away in it.
template <class ReadTicks, class ReadCycles>
Result<std::uint64_t> measure_cycles_per_second(ReferenceTimer timer, std::uint32_t ticks, ReadTicks&& read_ticks,
                                                ReadCycles&& read_cycles) {
  constexpr int most_attempts = 5;
  std::uint64_t best = 0, least_doubt = ~std::uint64_t{0};
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    const std::uint32_t idle = read_ticks();
    const calibration::Edge first = calibration::next_edge(idle, read_ticks, read_cycles);
    calibration::Edge last = first;
    std::uint32_t elapsed = 0;
    std::uint64_t doubt = first.doubt;  // the longest reading: in a long one the reference may even have wrapped
    while (elapsed < ticks) {
      const calibration::Edge next = calibration::next_edge(last.ticks, read_ticks, read_cycles);
      if (first.ticks == idle || next.ticks == last.ticks) {
        return Error::of(ErrorCode::unsupported, "expected a timer that counts ", ticks,
                         " ticks, found it at rest after ", elapsed);
      }
      last = next;
      if (last.doubt > doubt) doubt = last.doubt;
      elapsed = (first.ticks - last.ticks) & timer.mask;
    }
    const std::uint64_t cycles = last.cycles - first.cycles;
    if (doubt >= least_doubt) continue;
    least_doubt = doubt;
    best = cycles * timer.ticks_per_second / elapsed;
    if (doubt * 16 <= cycles) break;
  }
  return best;
}

}  // namespace ingot::os
