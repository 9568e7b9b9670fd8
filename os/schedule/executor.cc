#include "os/schedule/executor.h"

namespace ingot::os {

void Executor::schedule(Resumable& resumable) {
  state_.with([&](State& state) {
    state.ready.push_back(resumable);
    state.sleeper.wake_one();
  });
}

std::size_t Executor::run_ready() {
  std::size_t steps = 0;
  while (Resumable* next = state_.with([](State& state) { return state.ready.pop_front(); })) {
    // Where the task waits next may lie in the memory of what it waited for: the handle is taken before it runs.
    const std::coroutine_handle<> handle = next->handle;
    handle.resume();
    ++steps;
  }
  return steps;
}

void Executor::sleep_until_scheduled() {
  Waiter waiter(current_thread());
  const bool sleeps = state_.with([&](State& state) {
    if (!state.ready.is_empty()) return false;
    state.sleeper.join(waiter);
    return true;
  });
  if (sleeps) block_current_thread();
}

}  // namespace ingot::os
