#include "os/schedule/lock_checker.h"

#include "os/arch/arch.h"

namespace ingot::os {

void LockChecker::take(const void* lock, LockRank rank, Waits waits, SharedWith shared_with) {
  if (shared_with == SharedWith::interrupts ? arch::interrupts_enabled() : holder_ == SharedWith::interrupts) {
    return report(shared_with == SharedWith::interrupts
                      ? "expected interrupts off with a lock that handlers take, found them on"
                      : "expected a lock that handlers may take, found one that threads hold with interrupts on",
                  lock, rank, Held{});
  }
  for (std::size_t i = 0; i < count_; ++i) {
    const Held& held = held_[i];
    if (held.lock == lock) {
      return report("expected a lock that is not held here, found it held: it would wait for itself", lock, rank, held);
    }
    if (waits == Waits::yes && held.rank >= rank) {
      return report("expected a rank above all held, found one that is not", lock, rank, held);
    }
  }
  if (count_ == depth) {
    return report("expected fewer locks held at once, found the record full", lock, rank, held_[depth - 1]);
  }
  held_[count_++] = {lock, rank};
}

void LockChecker::give_back(const void* lock, LockRank rank) {
  // Locks are mostly given back in reverse, but need not be.
  for (std::size_t i = count_; i-- > 0;) {
    if (held_[i].lock != lock) continue;
    for (std::size_t j = i + 1; j < count_; ++j) held_[j - 1] = held_[j];
    --count_;
    return;
  }
  report("expected a lock that is held here, found it free or another's", lock, rank, Held{});
}

}  // namespace ingot::os
