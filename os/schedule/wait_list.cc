#include "os/schedule/wait_list.h"

#include "os/schedule/scheduler.h"
#include "os/schedule/thread.h"

namespace ingot::os {

bool Waiter::sleeps_again() {
  if (!is_linked()) return false;
  thread_.prepare_to_block();
  return true;
}

Waiting WaitList::join(Waiter& waiter) {
  waiters_.push_back(waiter);
  waiter.thread_.prepare_to_block();
  return Waiting::yes;
}

bool WaitList::wake_one() {
  Waiter* waiter = waiters_.pop_front();
  if (waiter == nullptr) return false;
  // Once woken, the thread may leave the frame in which the waiter lies.
  current_scheduler().wake(waiter->thread_);
  return true;
}

std::size_t WaitList::wake_all() {
  std::size_t count = 0;
  while (wake_one()) ++count;
  return count;
}

}  // namespace ingot::os
