#include "os/gpu/worker_watch.h"

#include <algorithm>

namespace ingot::os {

bool WorkerWatch::is_lost() const {
  if (given_up_.load(MemoryOrder::acquire) || is_gone()) return true;
  const accelerator::WorkerState state = shared_.memory().state.load(MemoryOrder::acquire);
  return state != accelerator::WorkerState::starting && state != accelerator::WorkerState::ready;
}

void WorkerWatch::look(Nanoseconds now) {
  const std::uint64_t beat = shared_.memory().heartbeat.load(MemoryOrder::relaxed);
  if (beat != beat_) {
    silence_ = Nanoseconds{};
  } else {
    silence_ = silence_ + std::min(now - looked_, look_again);
  }
  beat_ = beat;
  looked_ = now;
  if (silence_ > longest_silence) give_up();
}

}  // namespace ingot::os
