// Alarm: wakes the thread that runs the stack's timers. It is set under the stack's lock, often, and rings seldom: an
// earlier time replaces a later one, all else costs a comparison.
#pragma once

#include <optional>

#include "base/atomic.h"
#include "os/schedule/timer_queue.h"

namespace ingot::os::network {

class Alarm final : private Timer {
 public:
  Alarm() = default;
  // Precondition: it is not set.
  ~Alarm() = default;

  // Under the stack's lock.
  void ring_at(Nanoseconds time);
  // Under the stack's lock, when the thread has woken: what was asked for is about to be done.
  void clear();
  // By its one thread: sleeps until it has rung.
  void wait();

 private:
  std::optional<Nanoseconds> expired() override;

  TimerQueue* timers_ = nullptr;  // those of the CPU that set it; none: it is not set
  Nanoseconds time_;
  Atomic<Thread*> sleeper_{nullptr};
  Atomic<bool> rang_;
};

}  // namespace ingot::os::network
