// ConditionVariable: sleeping, with a mutex given back, until somebody says that what it guards has changed.
#pragma once

#include "os/schedule/mutex.h"

namespace ingot::os {

class ConditionVariable {
 public:
  // Precondition: the current thread holds `mutex`, and does again on return. Other threads may have run in between:
  // wait(mutex, condition) looks again.
  void wait(Mutex& mutex) {
    if (!mutex.is_held_by_current_thread()) __builtin_trap();
    Waiter waiter(current_thread());
    // In the list before the mutex is given back: a change made under the mutex finds us there.
    waiters_.with([&](WaitList& list) { list.join(waiter); });
    mutex.unlock();
    block_current_thread();
    waiters_.with([&](WaitList& list) { list.leave(waiter); });  // the end of its program woke it, not its waker
    mutex.lock();
  }
  template <class Condition>
  void wait(Mutex& mutex, Condition&& condition) {
    while (!condition()) wait(mutex);
  }

  void wake_one() {
    waiters_.with([](WaitList& list) { list.wake_one(); });
  }
  void wake_all() {
    waiters_.with([](WaitList& list) { list.wake_all(); });
  }

 private:
  Locked<WaitList, SharedWith::interrupts> waiters_{LockRank::wait};
};

}  // namespace ingot::os
