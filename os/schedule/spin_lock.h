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
  constexpr explicit SpinLock(LockRank rank, SharedWith shared_with = SharedWith::threads)
      : rank_(rank), shared_with_(shared_with) {}

  void lock() {
    const arch::ProcessorHeader& cpu = arch::current_cpu();
    if (cpu.lock_checker != nullptr) cpu.lock_checker->take(this, rank_, LockChecker::Waits::yes, shared_with_);
    if (!take(cpu)) wait(cpu);
  }
  bool try_lock() {
    const arch::ProcessorHeader& cpu = arch::current_cpu();
    if (!take(cpu)) return false;
    if (cpu.lock_checker != nullptr) cpu.lock_checker->take(this, rank_, LockChecker::Waits::no, shared_with_);
    return true;
  }
  void unlock() {
    if (LockChecker* checker = arch::current_cpu().lock_checker) checker->give_back(this, rank_);
    holder_.store(0, MemoryOrder::release);
  }

 private:
  // Waiting reads only: a CPU that wrote would take the cache line away from the one that holds the lock.
  bool take(const arch::ProcessorHeader& cpu) {
    std::uint8_t nobody = 0;
    return holder_.load(MemoryOrder::relaxed) == 0 &&
           holder_.compare_exchange(nobody, static_cast<std::uint8_t>(cpu.index + 1), MemoryOrder::acquire);
  }
  // Tells when it takes seconds: such a lock has been forgotten, or its holder waits for us.
  [[gnu::noinline]] void wait(const arch::ProcessorHeader& cpu);

  Atomic<std::uint8_t> holder_;  // the index of its CPU, plus one; 0: free
  LockRank rank_;
  SharedWith shared_with_;
};

}  // namespace ingot::os
