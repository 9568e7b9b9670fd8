#include "os/schedule/sleep.h"

#include "os/schedule/scheduler.h"

namespace ingot::os {

TimerQueue& current_timers() { return *current_processor().timers; }

Deadline::Deadline(Nanoseconds time) : timers_(current_timers()), time_(time), thread_(current_thread()) {}

void Deadline::arm() {
  if (armed_) return;
  armed_ = true;
  timers_.add(*this, time_);
}

std::optional<Nanoseconds> Deadline::expired() {
  passed_.store(true, MemoryOrder::release);
  current_scheduler().wake(thread_);
  return {};
}

void sleep_thread_until(Nanoseconds time) {
  Deadline deadline(time);
  current_thread().prepare_to_block();
  deadline.arm();
  block_current_thread();
}

}  // namespace ingot::os
