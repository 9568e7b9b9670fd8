// Executor: runs the tasks of one CPU, one at a time, on one thread. Whatever a task waits for (a timer, a channel, an
// interrupt handler) hands it back here when it can go on.
#pragma once

#include <coroutine>
#include <cstddef>

#include "base/intrusive_list.h"
#include "os/schedule/locked.h"
#include "os/schedule/wait_queue.h"

namespace ingot::os {

// A task's place in the queue of those that can go on. It lies in the task's own memory, so that queueing cannot fail.
class Resumable : public ListLink<struct ExecutorTag> {
 public:
  std::coroutine_handle<> handle;
};

class Executor {
 public:
  // The task goes on when its turn comes. Also for interrupt handlers and other CPUs.
  void schedule(Resumable& resumable);

  // Runs what can go on now, and what that makes able to go on, until nothing is left. How many steps it took.
  std::size_t run_ready();
  // The executor's thread: runs and sleeps in turns, until `stop` holds after a wake-up.
  template <class Stop>
  void run_until(Stop&& stop) {
    while (true) {
      run_ready();
      if (stop()) return;
      sleep_until_scheduled();
    }
  }

 private:
  struct State {
    IntrusiveList<Resumable, struct ExecutorTag> ready;
    WaitList sleeper;  // the executor's thread, or nobody
  };
  void sleep_until_scheduled();

  Locked<State, SharedWith::interrupts> state_{LockRank::executor};
};

}  // namespace ingot::os
