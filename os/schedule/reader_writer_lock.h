// ReaderWriterLock: many readers or one writer. They take turns: readers that come while a writer waits go after it,
// and all that waited during a writer's turn go before the next writer, so neither starves.
#pragma once

#include <cstddef>

#include "os/schedule/wait_queue.h"

namespace ingot::os {

class ReaderWriterLock {
 public:
  void lock_shared() {
    take_or_sleep(state_, [](State& state, Waiter& waiter) {
      if (state.writing || !state.waiting_writers.is_empty()) return state.waiting_readers.join(waiter);
      ++state.readers;
      return Waiting::no;
    });
  }
  void unlock_shared() {
    state_.with([](State& state) {
      if (state.readers == 0) __builtin_trap();
      if (--state.readers == 0) state.writing = state.waiting_writers.wake_one();
    });
  }
  void lock_exclusive() {
    take_or_sleep(state_, [](State& state, Waiter& waiter) {
      if (state.writing || state.readers != 0) return state.waiting_writers.join(waiter);
      state.writing = true;
      return Waiting::no;
    });
  }
  void unlock_exclusive() {
    state_.with([](State& state) {
      if (!state.writing) __builtin_trap();
      // Counted before they run: they cannot give the lock back before this section ends.
      state.readers = state.waiting_readers.wake_all();
      state.writing = state.readers == 0 && state.waiting_writers.wake_one();
    });
  }

 private:
  struct State {
    std::size_t readers = 0;
    bool writing = false;
    // Whoever is woken from these has been counted above: it holds the lock when it runs.
    WaitList waiting_readers, waiting_writers;
  };
  Locked<State, SharedWith::interrupts> state_{LockRank::wait};
};

}  // namespace ingot::os
