// Locked<Data>: data that can only be reached while its lock is held.
//
//   Locked<Statistics> statistics(LockRank::heap);
//   statistics.with([&](Statistics& it) { it.bytes += bytes; });
#pragma once

#include <type_traits>
#include <utility>

#include "os/arch/arch.h"
#include "os/schedule/spin_lock.h"

namespace ingot::os {

template <class Data, SharedWith shared_with = SharedWith::threads>
class Locked {
 public:
  template <class... Arguments>
  constexpr explicit Locked(LockRank rank, Arguments&&... arguments)
      : lock_(rank, shared_with), data_(std::forward<Arguments>(arguments)...) {}
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

  // What `use` returns must not point into the data.
  template <class Use>
  auto with(Use&& use) -> std::invoke_result_t<Use, Data&> {
    static_assert(!std::is_reference_v<std::invoke_result_t<Use, Data&>>, "a reference would outlive the lock");
    const Guard guard(lock_);
    return std::forward<Use>(use)(data_);
  }

  // The same where interrupts are off already.
  template <class Use>
  auto with_interrupts_off(Use&& use) -> std::invoke_result_t<Use, Data&> {
    lock_.lock();
    const auto result = std::forward<Use>(use)(data_);
    lock_.unlock();
    return result;
  }

 private:
  struct NothingElse {};
  class Guard {
   public:
    explicit Guard(SpinLock& lock) : lock_(lock) { lock_.lock(); }
    ~Guard() { lock_.unlock(); }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

   private:
    // Constructed before the lock is taken and destroyed after it was given back.
    [[no_unique_address]] std::conditional_t<shared_with == SharedWith::interrupts, InterruptsOff, NothingElse> quiet_;
    SpinLock& lock_;
  };

  SpinLock lock_;
  Data data_;
};

}  // namespace ingot::os
