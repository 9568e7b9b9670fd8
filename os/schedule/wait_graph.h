// WaitGraph: which thread waits for which mutex. A thread that would close a circle, by waiting for a mutex whose
// holder waits, directly or through others, for one that the thread holds, is reported before it falls asleep.
#pragma once

namespace ingot::os {

class Mutex;
class Thread;

// It has no data of its own: it guards Thread::waits_for, and it keeps alive whom a walk along the circle meets.
class WaitGraph {
 public:
  // Precondition: the thread stands in the mutex's list and the list's lock is held, so that the holder cannot leave.
  void wait(Thread& thread, const Mutex& mutex);
  void forget(Thread& thread);

 private:
  // Calls visit(waiter, mutex, holder) from `thread` on, while each holder waits itself. True: the last is `thread`.
  template <class Visit>
  static bool walk(const Thread& thread, Visit&& visit);
};

}  // namespace ingot::os
