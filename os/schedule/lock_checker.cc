#include "os/schedule/lock_checker.h"

namespace ingot::os {

void LockChecker::take(const void* lock, LockRank rank, Waits waits) {
  for (std::size_t i = 0; i < count_; ++i) {
    const Held& held = held_[i];
    if (held.lock == lock) {
      report("expected a lock that is not held here, found it held: it would wait for itself", lock, rank, held);
      return;
    }
    if (waits == Waits::yes && held.rank >= rank) {
      report("expected a rank above all held, found one that is not", lock, rank, held);
      return;
    }
  }
  if (count_ == depth) {
    report("expected fewer locks held at once, found the record full", lock, rank, held_[depth - 1]);
    return;
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

void LockChecker::expect_none(std::string_view what) {
  if (count_ != 0) report(what, nullptr, LockRank::log, held_[count_ - 1]);
}

}  // namespace ingot::os
