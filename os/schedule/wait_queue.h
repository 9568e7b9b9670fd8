// WaitQueue: sleeping until a condition holds that lives elsewhere: a finished thread, a device's answer, a futex word.
#pragma once

#include <cstddef>

#include "os/schedule/locked.h"
#include "os/schedule/timer_queue.h"
#include "os/schedule/wait_list.h"

namespace ingot::os {

void block_current_thread();  // Scheduler::block of this CPU's scheduler
void wake_current_thread();   // one that has announced its sleep: block_current_thread returns at once
Thread& current_thread();

// Looks at what it wants and, where it must wait, joins a list, as one step under the lock; then sleeps if it joined.
// Who is woken by the end of its program is still in the list: nobody gave it anything, so it sleeps again.
template <class State, class Take>
void take_or_sleep(Locked<State, SharedWith::interrupts>& locked, Take&& take) {
  Waiter waiter(current_thread());
  const Waiting waiting = locked.with([&](State& state) { return take(state, waiter); });
  for (bool sleeps = waiting == Waiting::yes; sleeps;) {
    block_current_thread();
    sleeps = locked.with([&](State&) { return waiter.sleeps_again(); });
  }
}

class WaitQueue {
 public:
  // Returns once `condition()` held. It is looked at under the queue's lock; whoever makes it true does so before or
  // inside a call to wake_*, so that it is either seen here or finds the waiter in the list. Whoever woke the thread
  // otherwise, for its program's end or for a signal, leaves it in the list.
  //
  // Such a waker makes the condition true and then looks whether the thread sleeps, without this lock. So the thread
  // looks once more after it has announced its sleep: one of the two sees the other.
  template <class Condition>
  void wait_until(Condition&& condition) {
    Waiter waiter(current_thread());
    while (true) {
      const Look look = waiters_.with([&](WaitList& list) { return look_and_join(list, waiter, condition); });
      if (look.joined) block_current_thread();
      if (look.held) return;
    }
  }

  // Whether it held before the deadline. At the deadline the timer wakes the thread, which leaves the list itself: so a
  // waker finds it there, or it finds that a waker took it out, and looks at the condition once more in either case.
  template <class Condition>
  bool wait_until(Condition&& condition, Nanoseconds time) {
    Waiter waiter(current_thread());
    Deadline deadline(time);
    while (true) {
      bool held = false;
      const auto held_or_late = [&] {
        const bool late = deadline.passed();
        held = condition();
        return held || late;
      };
      const Look look = waiters_.with([&](WaitList& list) { return look_and_join(list, waiter, held_or_late); });
      if (look.joined && !look.held) deadline.arm();
      if (look.joined) block_current_thread();
      if (look.held) return held;
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
  struct Look {
    bool held;
    bool joined;  // the thread announced its sleep
  };
  template <class Condition>
  static Look look_and_join(WaitList& list, Waiter& waiter, Condition&& condition) {
    list.leave(waiter);
    if (condition()) return {true, false};
    list.join(waiter);
    if (!condition()) return {false, true};
    list.leave(waiter);
    wake_current_thread();
    return {true, true};
  }

  Locked<WaitList, SharedWith::interrupts> waiters_{LockRank::wait};
};

}  // namespace ingot::os
