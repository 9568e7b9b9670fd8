#include "os/gpu/worker_watch.h"

namespace ingot::os {

bool WorkerWatch::is_lost() const {
  if (given_up_.load(MemoryOrder::acquire) || is_gone()) return true;
  const accelerator::WorkerState state = shared_.memory().state.load(MemoryOrder::acquire);
  return state != accelerator::WorkerState::starting && state != accelerator::WorkerState::ready;
}

void WorkerWatch::look(Nanoseconds now) {
  if (silence_.listen(shared_.memory().heartbeat.load(MemoryOrder::relaxed), now) > longest_silence) give_up();
}

}  // namespace ingot::os
