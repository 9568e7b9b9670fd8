// What a worker says of itself, in both parts of the shared memory: a machine's kernel believes the part that no
// program of the machine writes.
#pragma once

#include "base/accelerator/layout.h"

namespace ingot {

inline void tell_state(accelerator::SharedWords shared, accelerator::WorkerState state) {
  shared.memory().state.store(state, MemoryOrder::release);
  shared.worker().state.store(state, MemoryOrder::release);
}

inline void tell_heartbeat(accelerator::SharedWords shared, std::uint64_t beats) {
  shared.memory().heartbeat.store(beats, MemoryOrder::relaxed);
  shared.worker().heartbeat.store(beats, MemoryOrder::relaxed);
}

}  // namespace ingot
