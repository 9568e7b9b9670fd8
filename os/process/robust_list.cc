#include "os/process/robust_list.h"

#include "os/process/process.h"

namespace ingot::os {

namespace {

// struct robust_list_head (linux/futex.h).
struct Head {
  std::uint64_t first;
  std::int64_t offset;  // from a link to its lock's word
  std::uint64_t pending;
};

constexpr int longest_list = 2048;

// A link's lowest bit tells a lock that the kernel hands over (owned_locks.h).
constexpr std::uint64_t is_handed_over = 1;
constexpr VirtualAddress place_of(std::uint64_t link) { return VirtualAddress(link & ~is_handed_over); }

void release_lock(Process& process, std::uint64_t link, std::int64_t offset, std::uint32_t owner, bool is_pending) {
  using namespace lock_word;
  const UserPointer<std::uint32_t> word{place_of(link) + static_cast<std::uint64_t>(offset)};
  if ((link & is_handed_over) != 0) return process.locks().owner_dies(word, owner);
  const Answer<std::uint32_t> found = word.read();
  if (!found.ok()) return;
  // It had given the lock back, and did not come to wake anybody.
  if (is_pending && found.value() == 0) process.futexes().wake(word, 1);
  if ((found.value() & owner_mask) != owner) return;
  // Nobody else writes to a word that says we own it, but for the bit of waiters: a waiter that sets it now looks again
  // before it sleeps.
  if (!word.write((found.value() & has_waiters) | owner_died).ok()) return;
  process.futexes().wake(word, 1);
}

}  // namespace

void release_robust_locks(Process& process, VirtualAddress head, std::uint32_t owner) {
  if (head == VirtualAddress(0)) return;
  const Answer<Head> list = UserPointer<Head>{head}.read();
  if (!list.ok()) return;
  const Head begin = list.value();
  std::uint64_t link = begin.first;
  for (int count = 0; count < longest_list && place_of(link) != head; ++count) {
    // The next first: a lock that is free may be destroyed at once.
    const Answer<std::uint64_t> next = UserPointer<std::uint64_t>{place_of(link)}.read();
    if (place_of(link) != place_of(begin.pending)) release_lock(process, link, begin.offset, owner, false);
    if (!next.ok()) break;
    link = next.value();
  }
  if (begin.pending != 0) release_lock(process, begin.pending, begin.offset, owner, true);
}

}  // namespace ingot::os
