// Liveness: which tensors of a circuit need memory of their own at the same time. A tensor lives from the step that
// writes it to the last that reads it; where an operation may run in place and reads something for the last time, what
// it writes takes over the memory.
#pragma once

#include <functional>

#include "model/circuit/circuit.h"
#include "model/plan/arena.h"

namespace ingot {

// Where in the arena the caller wants a gradient; -1: it lies outside of it.
using GradientPlaces = std::function<std::int64_t(const CircuitTensor&)>;

struct Liveness {
  std::vector<BufferLife> buffers;
  std::vector<int> buffer_of;       // of each tensor: the buffer that it has or shares; -1: it lies elsewhere
  std::int64_t unshared_bytes = 0;  // what the arena would be if every tensor had bytes of its own
};

Liveness liveness_of(const Circuit& circuit, const GradientPlaces& places = {});

}  // namespace ingot
