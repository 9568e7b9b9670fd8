// The roofline: the least time a machine needs for a cost, and how near a measurement comes to it.
#pragma once

#include <cstdint>

#include "base/units.h"
#include "kernels/contract/operation.h"
#include "machine/peaks.h"

namespace ingot {

// What an operation's variants can compute with, by the numbers that it reads.
enum class Arithmetic : std::uint8_t { f32, f16, bf16, int8 };

// Codes of a block format, and plain bytes, may be multiplied as bytes. Where a variant computes otherwise, this errs
// towards a roof that is too high, never one that it exceeds.
Arithmetic arithmetic_of(const Operation& operation, const Invocation& invocation);

// The most operations a second that the machine can do with them, by whichever of its instructions does the most.
double peak_operations(Arithmetic arithmetic, const Peaks& peaks);

enum class Roof : std::uint8_t { arithmetic, memory, cache };

struct Roofline {
  double least_seconds = 0;
  Roof roof = Roof::memory;  // what sets it
};

// A working set that fits half of the cache (a CPU's second level) is held against the cache's measured rate, a larger
// one against memory's. Between the two (the last-level cache) kernels may exceed 100 percent of memory's roof.
Roofline roofline_of(const Cost& cost, Arithmetic arithmetic, const Peaks& peaks, Bytes cache);

}  // namespace ingot
