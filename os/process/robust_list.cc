#include "os/process/robust_list.h"

namespace ingot::os {

namespace {

// struct robust_list_head (linux/futex.h). The lowest bit of a link tells a lock that lends its priority.
struct Head {
  std::uint64_t first;
  std::int64_t offset;  // from a link to its lock's word
  std::uint64_t pending;
};

constexpr std::uint32_t owner_mask = 0x3fffffff, owner_died = 0x40000000, has_waiters = 0x80000000;
constexpr int longest_list = 2048;

void release_lock(FutexTable& futexes, std::uint64_t link, std::int64_t offset, std::uint32_t owner) {
  const UserPointer<std::uint32_t> word{
      VirtualAddress((link & ~std::uint64_t{1}) + static_cast<std::uint64_t>(offset))};
  const Answer<std::uint32_t> found = word.read();
  if (!found.ok() || (found.value() & owner_mask) != owner) return;
  // Nobody else writes to a word that says we own it, but for the bit of waiters: a waiter that sets it now looks again
  // before it sleeps.
  if (!word.write((found.value() & has_waiters) | owner_died).ok()) return;
  futexes.wake(word, 1);
}

}  // namespace

void release_robust_locks(FutexTable& futexes, VirtualAddress head, std::uint32_t owner) {
  if (head == VirtualAddress(0)) return;
  const Answer<Head> list = UserPointer<Head>{head}.read();
  if (!list.ok()) return;
  const Head begin = list.value();
  std::uint64_t link = begin.first;
  for (int count = 0; count < longest_list && (link & ~std::uint64_t{1}) != head.value(); ++count) {
    // The next first: a lock that is free may be destroyed at once.
    const Answer<std::uint64_t> next = UserPointer<std::uint64_t>{VirtualAddress(link & ~std::uint64_t{1})}.read();
    if (link != begin.pending) release_lock(futexes, link, begin.offset, owner);
    if (!next.ok()) break;
    link = next.value();
  }
  if (begin.pending != 0) release_lock(futexes, begin.pending, begin.offset, owner);
}

}  // namespace ingot::os
