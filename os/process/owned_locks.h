// OwnedLocks: locks of a program whose word names their owner (FUTEX_LOCK_PI and its kin, which PTHREAD_PRIO_INHERIT
// asks for). The program takes a free one by itself. Here stand those who must wait, and each lock is handed to them in
// the order in which they came: priorities have no meaning, so none is lent.
//
// Plain logic, without a lock of its own and without sleep; futex_locks.h puts threads to it.
#pragma once

#include <cstdint>

#include "base/intrusive_list.h"
#include "os/memory/address.h"
#include "os/syscall/errno.h"

namespace ingot::os {

// The parts of a lock's word: FUTEX_TID_MASK, FUTEX_OWNER_DIED, FUTEX_WAITERS.
namespace lock_word {
inline constexpr std::uint32_t owner_mask = 0x3fff'ffff, owner_died = 0x4000'0000, has_waiters = 0x8000'0000;
}  // namespace lock_word

// The program's memory, which it changes meanwhile, and its threads.
class LockWords {
 public:
  virtual Answer<std::uint32_t> read(VirtualAddress word) = 0;
  // What was found. If it was `expected`, it is `wanted` now.
  virtual Answer<std::uint32_t> exchange(VirtualAddress word, std::uint32_t expected, std::uint32_t wanted) = 0;
  // One that is about to end is not: it will hand over nothing any more.
  virtual bool is_living(std::uint32_t thread) = 0;

 protected:
  ~LockWords() = default;
};

class OwnedLocks {
 public:
  class Waiter : public ListLink<struct OwnedLocksTag> {
   public:
    Waiter(VirtualAddress lock, std::uint32_t number) : word(lock), thread(number) {}
    virtual void handed_over() = 0;  // it owns the lock, and waits no longer

    const VirtualAddress word;
    const std::uint32_t thread;

   protected:
    ~Waiter() = default;
  };

  explicit OwnedLocks(LockWords& words) : words_(words) {}

  enum class Outcome : std::uint8_t { owned, waits };
  // EDEADLK: its owner is the thread itself, or waits for it, perhaps through others. ESRCH: its owner is gone. EAGAIN:
  // a word that never stands still.
  Answer<Outcome> lock(Waiter& waiter);
  // EAGAIN: it has an owner.
  Answer<void> try_lock(VirtualAddress word, std::uint32_t thread);
  // EPERM: it is not the thread's.
  Answer<void> unlock(VirtualAddress word, std::uint32_t thread) { return hand_over(word, thread, 0); }
  // One that waits no longer, and was not handed the lock.
  void leave(Waiter& waiter) { waiters_.remove(waiter); }

  // The owner ends: whoever has the lock next is told so by its word.
  void owner_dies(VirtualAddress word, std::uint32_t thread);
  // The same for all locks that somebody waits for.
  void owner_dies(std::uint32_t thread);

 private:
  Answer<bool> take_if_free(VirtualAddress word, std::uint32_t found, std::uint32_t thread);
  Answer<void> hand_over(VirtualAddress word, std::uint32_t thread, std::uint32_t mark);
  bool waits_for(std::uint32_t waiting, std::uint32_t thread);
  // The first, or the first behind another.
  Waiter* waiter_of(VirtualAddress word, Waiter* behind = nullptr);

  LockWords& words_;
  IntrusiveList<Waiter, OwnedLocksTag> waiters_;  // of all locks, in the order in which they came
};

}  // namespace ingot::os
