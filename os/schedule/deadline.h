// Deadline: wakes the thread that made it at a time, unless it ends before. What timed waiting is made of.
#pragma once

#include "base/atomic.h"
#include "os/schedule/timer_queue.h"

namespace ingot::os {

class Thread;

class Deadline : private Timer {
 public:
  explicit Deadline(Nanoseconds time);  // by this CPU's timers, the only ones whose alarm this CPU can set
  // Afterwards the thread can go to sleep for something else: no wake-up is under way, not even on another CPU.
  ~Deadline() { timers_.cancel(*this); }

  // Between Thread::prepare_to_block and Scheduler::block, so that a time that has passed is no wake-up lost. Once.
  void arm();
  bool passed() const { return passed_.load(MemoryOrder::acquire); }

 private:
  void expired() override;

  TimerQueue& timers_;
  Nanoseconds time_;
  Thread& thread_;
  bool armed_ = false;
  Atomic<bool> passed_;
};

}  // namespace ingot::os
