// Semaphore: a count of things to take; whoever finds none sleeps. Handlers may release.
#pragma once

#include <cstdint>

#include "os/schedule/locked.h"
#include "os/schedule/wait_queue.h"

namespace ingot::os {

class Semaphore {
 public:
  explicit Semaphore(std::uint64_t count) : state_(LockRank::wait, count) {}

  void acquire();
  bool try_acquire();
  void release();

 private:
  struct State {
    explicit State(std::uint64_t initial) : count(initial) {}
    std::uint64_t count;
    WaitList waiters;  // empty while count > 0
  };
  Locked<State, SharedWith::interrupts> state_;
};

}  // namespace ingot::os
