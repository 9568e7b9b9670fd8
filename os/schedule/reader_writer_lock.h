// ReaderWriterLock: many readers or one writer. They take turns: readers that come while a writer waits go after it,
// and all that waited during a writer's turn go before the next writer, so neither starves.
#pragma once

#include <cstddef>

#include "os/schedule/locked.h"
#include "os/schedule/wait_queue.h"

namespace ingot::os {

class ReaderWriterLock {
 public:
  void lock_shared();
  void unlock_shared();
  void lock_exclusive();
  void unlock_exclusive();

 private:
  struct State {
    std::size_t readers = 0;
    bool writing = false;
    // Whoever is woken from these has been counted above: it holds the lock when it runs.
    WaitList waiting_readers;
    WaitList waiting_writers;
  };
  Locked<State, SharedWith::interrupts> state_{LockRank::wait};
};

}  // namespace ingot::os
