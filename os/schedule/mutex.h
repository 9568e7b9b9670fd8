// Mutex: one thread at a time, for as long as it takes; whoever waits sleeps. Not for interrupt handlers. It outlives
// every call on it: who gives it back may look at the list after the next has it.
#pragma once

#include <cstdint>

#include "base/atomic.h"
#include "os/schedule/locked.h"
#include "os/schedule/wait_queue.h"

namespace ingot::os {

class Mutex {
 public:
  explicit Mutex(LockRank rank) : rank_(rank) {}
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  // A thread that would wait for itself, also through others, is reported (WaitGraph); one that does not hold it at
  // unlock traps.
  void lock();
  // As a lock of another rank, where locks of one kind are taken inside each other in an order of their own.
  void lock_as(LockRank rank);
  bool try_lock();
  void unlock();
  bool is_held_by_current_thread() const;

 private:
  friend class WaitGraph;

  bool take_at_once(Thread& thread);
  // Apart, so that the paths nobody waits on stay within their budget of instructions.
  [[gnu::noinline]] void lock_slowly(Thread& thread, LockRank rank);
  [[gnu::noinline]] void unlock_slowly(Thread& thread, std::uintptr_t found);

  // The holder's address and, in its lowest bit, whether somebody may wait; 0: free. Without the bit, neither taking
  // nor giving back looks at the list. It is not handed over: a thread that runs takes it before one that must wake
  // first.
  static constexpr std::uintptr_t waited_for = 1;
  Atomic<std::uintptr_t> holder_;
  LockRank rank_;
  Locked<WaitList, SharedWith::interrupts> waiters_{LockRank::wait};
};

class [[nodiscard]] MutexGuard {
 public:
  explicit MutexGuard(Mutex& mutex) : mutex_(mutex) { mutex_.lock(); }
  ~MutexGuard() { mutex_.unlock(); }
  MutexGuard(const MutexGuard&) = delete;
  MutexGuard& operator=(const MutexGuard&) = delete;

 private:
  Mutex& mutex_;
};

}  // namespace ingot::os
