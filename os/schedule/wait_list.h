// WaitList: the threads that wait for one thing. It has no lock of its own: it lies inside the lock that guards what
// they wait for, so that looking and joining are one step, and so are changing and waking.
#pragma once

#include "base/intrusive_list.h"

namespace ingot::os {

class Mutex;
class Thread;

// One thread's place in one list; it lies on the waiting thread's stack.
class Waiter : public ListLink<struct WaitListTag> {
 public:
  explicit Waiter(Thread& thread) : thread_(thread) {}

  // Under the list's lock, after a sleep: whether nobody took it out of the list. Then its thread has announced that it
  // will sleep once more.
  bool sleeps_again();

 private:
  friend class WaitList;

  Thread& thread_;
};

// Whether a thread has to sleep after a look at what it wants.
enum class Waiting : bool { no, yes };

class WaitList {
 public:
  bool is_empty() const { return waiters_.is_empty(); }

  // The current thread joins, last, and has announced that it will sleep: after giving the lock back it calls
  // Scheduler::block, which returns when somebody has woken it.
  Waiting join(Waiter& waiter);
  // One that was not woken gives its place up; one that was has none any more.
  void leave(Waiter& waiter) {
    if (waiter.is_linked()) waiters_.remove(waiter);
  }
  // The waiter that joined first goes on; false when nobody waits. When it runs, it is in no list.
  bool wake_one();
  // How many went on.
  std::size_t wake_all();

 private:
  IntrusiveList<Waiter, struct WaitListTag> waiters_;
};

// Which thread waits for which mutex. A thread that would close a circle, by waiting for a mutex whose holder waits,
// directly or through others, for one that the thread holds, is reported before it falls asleep.
//
// It has no data of its own: it guards Thread::waits_for, and it keeps alive whom a walk along the circle meets.
class WaitGraph {
 public:
  // Precondition: the thread stands in the mutex's list and the list's lock is held, so that the holder cannot leave.
  void wait(Thread& thread, const Mutex& mutex);

 private:
  // Calls visit(waiter, mutex, holder) from `thread` on, while each holder waits itself. True: the last is `thread`.
  template <class Visit>
  static bool walk(const Thread& thread, Visit&& visit);
};

}  // namespace ingot::os
