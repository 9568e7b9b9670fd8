#include "os/schedule/sleep.h"

#include "os/schedule/scheduler.h"

namespace ingot::os {
namespace {

class WakingTimer : public Timer {
 public:
  explicit WakingTimer(Thread& thread) : thread_(thread) {}

 private:
  void expired() override { current_scheduler().wake(thread_); }

  Thread& thread_;
};

}  // namespace

void sleep_thread_until(TimerQueue& timers, Nanoseconds deadline) {
  WakingTimer timer(current_thread());
  // Before the timer can expire: a wake-up in between is kept.
  current_thread().prepare_to_block();
  timers.add(timer, deadline);
  block_current_thread();
}

void sleep_thread_until(Nanoseconds deadline) { sleep_thread_until(*current_processor().timers, deadline); }

}  // namespace ingot::os
