#include "os/schedule/condition_variable.h"

#include "os/schedule/scheduler.h"

namespace ingot::os {

void ConditionVariable::wait(Mutex& mutex) {
  if (!mutex.is_held_by_current_thread()) __builtin_trap();
  Waiter waiter(current_thread());
  // In the list before the mutex is given back: a change made under the mutex finds us there.
  waiters_.with([&](WaitList& list) { list.join(waiter); });
  mutex.unlock();
  block_current_thread();
  mutex.lock();
}

void ConditionVariable::wake_one() {
  waiters_.with([](WaitList& list) { list.wake_one(); });
}

void ConditionVariable::wake_all() {
  waiters_.with([](WaitList& list) { list.wake_all(); });
}

}  // namespace ingot::os
