// SpinLock: for moments. Whoever waits for it keeps its CPU busy.
//
// It is not fair on purpose: a fair lock is handed to the CPU that waited longest, and if a hypervisor has taken that
// CPU away, all others wait for it. Measured with four virtual CPUs on two real ones: 59 s in order, 41 ms without.
#pragma once

#include <cstdint>

#include "base/atomic.h"
#include "os/arch/arch.h"
#include "os/schedule/lock_checker.h"
#include "os/schedule/lock_rank.h"

namespace ingot::os {

class SpinLock {
 public:
  constexpr explicit SpinLock(LockRank rank) : rank_(rank) {}

  void lock() {
    if (LockChecker* checker = arch::current_cpu().lock_checker) checker->take(this, rank_, LockChecker::Waits::yes);
    std::uint32_t pauses = 1;
    // Waiting reads only: a CPU that wrote would take the cache line away from the one that holds the lock.
    while (held_.load(MemoryOrder::relaxed) || held_.exchange(true, MemoryOrder::acquire)) {
      for (std::uint32_t i = 0; i < pauses; ++i) arch::pause();
      if (pauses < most_pauses) pauses *= 2;
    }
  }
  bool try_lock() {
    if (held_.load(MemoryOrder::relaxed) || held_.exchange(true, MemoryOrder::acquire)) return false;
    if (LockChecker* checker = arch::current_cpu().lock_checker) checker->take(this, rank_, LockChecker::Waits::no);
    return true;
  }
  void unlock() {
    if (LockChecker* checker = arch::current_cpu().lock_checker) checker->give_back(this, rank_);
    held_.store(false, MemoryOrder::release);
  }

 private:
  // Longer waits would leave a free lock unused for longer than most are held.
  static constexpr std::uint32_t most_pauses = 64;

  Atomic<bool> held_;
  LockRank rank_;
};

}  // namespace ingot::os
