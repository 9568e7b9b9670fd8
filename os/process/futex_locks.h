// FutexLocks: a program's threads at locks that name their owner. How those are handed on is in owned_locks.h.
#pragma once

#include <cstdint>
#include <optional>

#include "base/units.h"
#include "os/process/owned_locks.h"
#include "os/schedule/mutex.h"
#include "os/syscall/user_pointer.h"

namespace ingot::os {

class Process;
class UserThread;

class FutexLocks final : private LockWords {
 public:
  explicit FutexLocks(Process& process) : process_(process) {}

  // Sleeps until the lock is the thread's. ETIMEDOUT; restart_always: a signal came; else as OwnedLocks says.
  Answer<void> lock(UserThread& thread, UserPointer<std::uint32_t> word, std::optional<Nanoseconds> deadline);
  Answer<void> try_lock(UserThread& thread, UserPointer<std::uint32_t> word);
  Answer<void> unlock(UserThread& thread, UserPointer<std::uint32_t> word);

  // The thread ends: this lock of its goes on, and then all that somebody waits for.
  void owner_dies(UserPointer<std::uint32_t> word, std::uint32_t thread);
  void thread_ends(UserThread& thread);

  // Of any word that others change at the same time: what was found, and `wanted` is there now if it was `expected`.
  Answer<std::uint32_t> exchange(VirtualAddress word, std::uint32_t expected, std::uint32_t wanted) override;

 private:
  Answer<std::uint32_t> read(VirtualAddress word) override;
  bool is_living(std::uint32_t thread) override;

  Process& process_;
  Mutex mutex_{LockRank::program};  // held while words are looked at, which may fault
  OwnedLocks locks_{*this};
};

}  // namespace ingot::os
