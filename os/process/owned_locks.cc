#include "os/process/owned_locks.h"

namespace ingot::os {

namespace {

using namespace lock_word;

// A program may change its word for ever: whoever meets that is sent away.
constexpr int most_attempts = 1000;

}  // namespace

OwnedLocks::Waiter* OwnedLocks::waiter_of(VirtualAddress word, Waiter* behind) {
  Waiter* waiter = behind == nullptr ? waiters_.first() : waiters_.after(*behind);
  while (waiter != nullptr && waiter->word != word) waiter = waiters_.after(*waiter);
  return waiter;
}

// A lock that is left by a dead owner stays marked: its next owner has to repair what it guards.
Answer<bool> OwnedLocks::take_if_free(VirtualAddress word, std::uint32_t found, std::uint32_t thread) {
  const std::uint32_t waited_for = waiter_of(word) != nullptr ? has_waiters : 0;
  return TRY(words_.exchange(word, found, (found & owner_died) | thread | waited_for)) == found;
}

Answer<OwnedLocks::Outcome> OwnedLocks::lock(Waiter& waiter) {
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    const std::uint32_t found = TRY(words_.read(waiter.word)), owner = found & owner_mask;
    if (owner == 0) {
      if (TRY(take_if_free(waiter.word, found, waiter.thread))) return Outcome::owned;
      continue;
    }
    if (owner == waiter.thread || waits_for(owner, waiter.thread)) return Errno::edeadlk;
    if (!words_.is_living(owner)) return Errno::esrch;
    // From here on the owner cannot give it back by itself: it must ask, and finds the waiter.
    if (TRY(words_.exchange(waiter.word, found, found | has_waiters)) != found) continue;
    waiters_.push_back(waiter);
    return Outcome::waits;
  }
  return Errno::eagain;
}

Answer<void> OwnedLocks::try_lock(VirtualAddress word, std::uint32_t thread) {
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    const std::uint32_t found = TRY(words_.read(word)), owner = found & owner_mask;
    if (owner == thread) return Errno::edeadlk;
    if (owner != 0) return Errno::eagain;
    if (TRY(take_if_free(word, found, thread))) return {};
  }
  return Errno::eagain;
}

Answer<void> OwnedLocks::hand_over(VirtualAddress word, std::uint32_t thread, std::uint32_t mark) {
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    const std::uint32_t found = TRY(words_.read(word));
    Waiter* const next = waiter_of(word);
    // musl's threads mark their robust locks themselves as left, and leave it to the kernel to hand them on.
    const bool was_left = (found & (owner_mask | owner_died)) == owner_died && mark == owner_died && next != nullptr;
    if ((found & owner_mask) != thread && !was_left) return Errno::eperm;
    std::uint32_t wanted = mark;
    if (next != nullptr) wanted |= next->thread | (waiter_of(word, next) != nullptr ? has_waiters : 0);
    if (TRY(words_.exchange(word, found, wanted)) != found) continue;
    if (next == nullptr) return {};
    waiters_.remove(*next);
    next->handed_over();
    return {};
  }
  return Errno::eagain;
}

void OwnedLocks::owner_dies(VirtualAddress word, std::uint32_t thread) {
  // A word that is gone, or says somebody else, was not its lock.
  static_cast<void>(hand_over(word, thread, owner_died));
}

// The first who waits for a lock is met first, and has it then: the others find another owner.
void OwnedLocks::owner_dies(std::uint32_t thread) {
  for (Waiter* next = waiters_.first(); next != nullptr;) {
    Waiter& waiter = *next;
    next = waiters_.after(waiter);
    owner_dies(waiter.word, thread);
  }
}

bool OwnedLocks::waits_for(std::uint32_t waiting, std::uint32_t thread) {
  for (int links = 0; links < most_attempts; ++links) {
    Waiter* waiter = waiters_.first();
    while (waiter != nullptr && waiter->thread != waiting) waiter = waiters_.after(*waiter);
    if (waiter == nullptr) return false;
    const Answer<std::uint32_t> found = words_.read(waiter->word);
    if (!found.ok()) return false;
    waiting = found.value() & owner_mask;
    if (waiting == thread) return true;
  }
  return false;
}

}  // namespace ingot::os
