// WaitQueue: sleeping until a condition holds that lives elsewhere: a finished thread, a device's answer, a futex word.
#pragma once

#include <cstddef>

#include "os/schedule/deadline.h"
#include "os/schedule/locked.h"
#include "os/schedule/wait_list.h"

namespace ingot::os {

void block_current_thread();  // Scheduler::block of this CPU's scheduler
Thread& current_thread();

// Looks at what it wants and, where it must wait, joins a list, as one step under the lock; then sleeps if it joined.
template <class State, class Take>
void take_or_sleep(Locked<State, SharedWith::interrupts>& locked, Take&& take) {
  Waiter waiter(current_thread());
  const Waiting waiting = locked.with([&](State& state) { return take(state, waiter); });
  if (waiting == Waiting::yes) block_current_thread();
}

class WaitQueue {
 public:
  // Returns once `condition()` held. It is looked at under the queue's lock; whoever makes it true does so before or
  // inside a call to wake_*, so that it is either seen here or finds the waiter in the list.
  template <class Condition>
  void wait_until(Condition&& condition) {
    Waiter waiter(current_thread());
    while (true) {
      const bool held = waiters_.with([&](WaitList& list) {
        const bool holds = condition();
        if (!holds) list.join(waiter);
        return holds;
      });
      if (held) return;
      block_current_thread();
    }
  }

  // Whether it held before the deadline. At the deadline the timer wakes the thread, which leaves the list itself: so a
  // waker finds it there, or it finds that a waker took it out, and looks at the condition once more in either case.
  template <class Condition>
  bool wait_until(Condition&& condition, Nanoseconds time) {
    Waiter waiter(current_thread());
    Deadline deadline(time);
    while (true) {
      bool late = false;
      const bool held = waiters_.with([&](WaitList& list) {
        list.leave(waiter);
        late = deadline.passed();
        const bool holds = condition();
        if (!holds && !late) list.join(waiter);
        return holds;
      });
      if (held || late) return held;
      deadline.arm();
      block_current_thread();
    }
  }

  bool wake_one() {
    return waiters_.with([](WaitList& list) { return list.wake_one(); });
  }
  std::size_t wake_all() {
    return wake_all_after([] {});
  }
  // `change` happens under the lock: nobody who waits for it returns, and frees this queue, before it is let go.
  template <class Change>
  std::size_t wake_all_after(Change&& change) {
    return waiters_.with([&](WaitList& list) {
      change();
      return list.wake_all();
    });
  }

 private:
  Locked<WaitList, SharedWith::interrupts> waiters_{LockRank::wait};
};

}  // namespace ingot::os
