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
  take_or_sleep(state_, [](State& state, Waiter& waiter) {
    return state.ready.is_empty() ? state.sleeper.join(waiter) : Waiting::no;
  });
}

}  // namespace ingot::os
