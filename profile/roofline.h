// The roofline: the least time a machine needs for a cost, and how near a measurement comes to it.
#pragma once

#include <cstdint>

#include "kernels/contract/cost.h"
#include "machine/machine.h"
#include "machine/peaks.h"

namespace ingot {

enum class Roof : std::uint8_t { arithmetic, memory, cache };

struct Roofline {
  double least_seconds = 0;
  Roof roof = Roof::memory;  // what sets it
};

// A working set that fits the second-level cache is held against the cache's measured rate, a larger one against
// memory's. Between the two (the last-level cache) kernels may exceed 100 percent of memory's roof.
Roofline roofline_of(const Cost& cost, const Peaks& peaks, const Machine& machine);

}  // namespace ingot
