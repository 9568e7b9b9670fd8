#include "os/schedule/semaphore.h"

#include "os/schedule/scheduler.h"

namespace ingot::os {

void Semaphore::acquire() {
  Waiter waiter(current_thread());
  const bool taken = state_.with([&](State& state) {
    if (state.count == 0) {
      state.waiters.join(waiter);
      return false;
    }
    --state.count;
    return true;
  });
  if (!taken) block_current_thread();  // whoever wakes us has handed its unit over
}

bool Semaphore::try_acquire() {
  return state_.with([](State& state) {
    if (state.count == 0) return false;
    --state.count;
    return true;
  });
}

void Semaphore::release() {
  state_.with([](State& state) {
    if (!state.waiters.wake_one()) ++state.count;
  });
}

}  // namespace ingot::os
