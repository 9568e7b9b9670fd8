#include "os/process/futex.h"

#include "os/process/user_thread.h"

namespace ingot::os {

// It stands in the list before it looks at the word, so whoever changes the word and then wakes finds it. Looking may
// fault, and sleep: no lock is held meanwhile.
Answer<void> FutexTable::wait(UserThread& thread, UserPointer<std::uint32_t> word, std::uint32_t value,
                              std::uint32_t bits, std::optional<Nanoseconds> deadline) {
  if (bits == 0 || !word.address.aligned(sizeof(std::uint32_t))) return Errno::einval;
  Waiter waiter(word.address, bits);
  Locked<List>& list = bucket_of(word.address).waiters;
  list.with([&](List& waiters) { waiters.push_back(waiter); });
  const Answer<std::uint32_t> found = word.read();
  const auto goes_on = [&] { return waiter.woken.load(MemoryOrder::acquire) || thread.is_interrupted(); };
  if (found.ok() && found.value() == value) {
    if (deadline) {
      waiter.queue.wait_until(goes_on, *deadline);
    } else {
      waiter.queue.wait_until(goes_on);
    }
  }
  list.with([&](List& waiters) {
    if (waiter.is_linked()) waiters.remove(waiter);
  });
  // Whoever woke it has counted it: it must not answer that it was not.
  if (waiter.woken.load(MemoryOrder::acquire)) return {};
  if (!found.ok()) return found.error();
  if (found.value() != value) return Errno::eagain;
  if (thread.is_interrupted()) return Errno::restart;
  return Errno::etimedout;
}

std::uint64_t FutexTable::wake(UserPointer<std::uint32_t> word, std::uint64_t most, std::uint32_t bits) {
  return bucket_of(word.address).waiters.with([&](List& waiters) {
    std::uint64_t count = 0;
    for (Waiter* waiter = waiters.first(); waiter != nullptr && count < most;) {
      Waiter& candidate = *waiter;
      waiter = waiters.after(candidate);
      if (candidate.word != word.address || (candidate.bits & bits) == 0) continue;
      waiters.remove(candidate);
      candidate.queue.wake_all_after([&] { candidate.woken.store(true, MemoryOrder::release); });
      ++count;  // it goes on, and away, when it gets this bucket's lock
    }
    return count;
  });
}

}  // namespace ingot::os
