#include "os/schedule/sleep.h"

#include "os/schedule/scheduler.h"

namespace ingot::os {

TimerQueue& current_timers() { return *current_processor().timers; }

Deadline::Deadline(TimerQueue& timers, Nanoseconds time) : timers_(timers), time_(time), thread_(current_thread()) {}
Deadline::Deadline(Nanoseconds time) : Deadline(current_timers(), time) {}

void Deadline::arm() {
  if (armed_) return;
  armed_ = true;
  timers_.add(*this, time_);
}

void Deadline::expired() {
  passed_.store(true, MemoryOrder::release);
  current_scheduler().wake(thread_);
}

static void sleep_until(Deadline& deadline) {
  current_thread().prepare_to_block();
  deadline.arm();
  block_current_thread();
}
void sleep_thread_until(TimerQueue& timers, Nanoseconds time) {
  Deadline deadline(timers, time);
  sleep_until(deadline);
}
void sleep_thread_until(Nanoseconds time) {
  Deadline deadline(time);
  sleep_until(deadline);
}

}  // namespace ingot::os
