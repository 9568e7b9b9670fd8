// Waiting for a time, as a thread or as a task.
#pragma once

#include <coroutine>

#include "os/schedule/executor.h"
#include "os/schedule/timer_queue.h"

namespace ingot::os {

TimerQueue& current_timers();  // of this CPU: the only ones whose alarm it can set

// The current thread sleeps.
void sleep_thread_until(Nanoseconds deadline);

// co_await SleepUntil(timers, deadline): the current task waits; its executor runs others.
class SleepUntil : private Timer, private Resumable {
 public:
  SleepUntil(TimerQueue& timers, Nanoseconds deadline) : timers_(&timers), until_(deadline) {}
  explicit SleepUntil(Nanoseconds deadline) : until_(deadline) {}  // by the timers of the CPU that runs the task

  bool await_ready() const { return false; }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> task) {
    handle = task;
    executor_ = task.promise().executor;
    (timers_ != nullptr ? *timers_ : current_timers()).add(*this, until_);
  }
  void await_resume() const {}

 private:
  std::optional<Nanoseconds> expired() override {
    executor_->schedule(*this);
    return {};
  }

  TimerQueue* timers_ = nullptr;
  Nanoseconds until_;
  Executor* executor_ = nullptr;
};

}  // namespace ingot::os
