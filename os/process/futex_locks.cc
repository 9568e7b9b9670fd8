#include "os/process/futex_locks.h"

#include "os/boot/kernel.h"
#include "os/process/process.h"

namespace ingot::os {

namespace {

class SleepingWaiter final : public OwnedLocks::Waiter {
 public:
  using Waiter::Waiter;
  void handed_over() override {
    queue_.wake_all_after([this] { owns_.store(true, MemoryOrder::release); });
  }
  bool owns() const { return owns_.load(MemoryOrder::acquire); }
  void sleep(UserThread& sleeper, std::optional<Nanoseconds> deadline) {
    const auto goes_on = [&] { return owns() || sleeper.is_interrupted(); };
    if (deadline) {
      queue_.wait_until(goes_on, *deadline);
    } else {
      queue_.wait_until(goes_on);
    }
  }

 private:
  Atomic<bool> owns_;
  WaitQueue queue_;
};

Answer<void> check(UserPointer<std::uint32_t> word) {
  return word.address.aligned(sizeof(std::uint32_t)) ? Answer<void>() : Errno::einval;
}

}  // namespace

Answer<void> FutexLocks::lock(UserThread& thread, UserPointer<std::uint32_t> word,
                              std::optional<Nanoseconds> deadline) {
  TRY(check(word));
  SleepingWaiter waiter(word.address, thread.number());
  {
    const MutexGuard guard(mutex_);
    if (TRY(locks_.lock(waiter)) == OwnedLocks::Outcome::owned) return {};
  }
  waiter.sleep(thread, deadline);
  const MutexGuard guard(mutex_);
  if (waiter.owns()) return {};
  locks_.leave(waiter);
  return thread.is_interrupted() ? Errno::restart_always : Errno::etimedout;
}

Answer<void> FutexLocks::try_lock(UserThread& thread, UserPointer<std::uint32_t> word) {
  TRY(check(word));
  const MutexGuard guard(mutex_);
  return locks_.try_lock(word.address, thread.number());
}

Answer<void> FutexLocks::unlock(UserThread& thread, UserPointer<std::uint32_t> word) {
  TRY(check(word));
  const MutexGuard guard(mutex_);
  return locks_.unlock(word.address, thread.number());
}

void FutexLocks::owner_dies(UserPointer<std::uint32_t> word, std::uint32_t thread) {
  if (!check(word).ok()) return;
  const MutexGuard guard(mutex_);
  locks_.owner_dies(word.address, thread);
}

void FutexLocks::thread_ends(UserThread& thread) {
  const MutexGuard guard(mutex_);
  thread.gave_up_locks = true;
  locks_.owner_dies(thread.number());
}

Answer<std::uint32_t> FutexLocks::read(VirtualAddress word) { return UserPointer<std::uint32_t>{word}.read(); }

// In the kernel's view of the page, which stays in place meanwhile: a copy could not be one step.
Answer<std::uint32_t> FutexLocks::exchange(VirtualAddress word, std::uint32_t expected, std::uint32_t wanted) {
  KernelMemory& memory = *process_.kernel().memory;
  const Result<PinnedPiece> pinned = process_.space().pin(word, sizeof(wanted), Access::write);
  if (!pinned.ok()) return Errno::efault;
  __atomic_compare_exchange_n(memory.window().at<std::uint32_t>(pinned.value().physical), &expected, wanted, false,
                              __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  pinned.value().unpin(memory.frames());
  return expected;
}

bool FutexLocks::is_living(std::uint32_t number) {
  bool gave_up = false;
  return process_.with_thread(number, [&](UserThread& thread) { gave_up = thread.gave_up_locks; }) && !gave_up;
}

}  // namespace ingot::os
