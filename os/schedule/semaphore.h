// Semaphore: a count of things to take; whoever finds none sleeps. Handlers may release.
#pragma once

#include <cstdint>

#include "os/schedule/wait_queue.h"

namespace ingot::os {

class Semaphore {
 public:
  explicit Semaphore(std::uint64_t count) : state_(LockRank::wait, count) {}

  void acquire() {
    take_or_sleep(state_, [](State& state, Waiter& waiter) {
      if (state.count == 0) return state.waiters.join(waiter);  // whoever wakes us has handed its unit over
      --state.count;
      return Waiting::no;
    });
  }
  bool try_acquire() {
    return state_.with([](State& state) {
      if (state.count == 0) return false;
      --state.count;
      return true;
    });
  }
  void release() {
    state_.with([](State& state) {
      if (!state.waiters.wake_one()) ++state.count;
    });
  }

 private:
  struct State {
    explicit State(std::uint64_t initial) : count(initial) {}
    std::uint64_t count;
    WaitList waiters;  // empty while count > 0
  };
  Locked<State, SharedWith::interrupts> state_;
};

}  // namespace ingot::os
