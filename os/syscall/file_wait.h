// FileWait: the one place where a program's thread sleeps for files.
#pragma once

#include <optional>

#include "base/atomic.h"
#include "base/units.h"
#include "os/file/file_description.h"
#include "os/process/user_thread.h"
#include "os/schedule/wait_queue.h"

namespace ingot::os {

// Join all sources first, then look at the files, then sleep: what happens in between is not lost.
class FileWait {
 public:
  // A place in one file's list of those who wait. It leaves with its end.
  class Place final : public PollWaiter {
   public:
    Place() = default;
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    ~Place() { leave(); }
    // A file that is always ready has no source: then nothing happens.
    void join(FileWait& wait, FileDescription& file) { join(wait, file.poll_source()); }
    void join(FileWait& wait, PollSource* source);
    void leave();

   private:
    void notified(std::uint32_t) override;

    FileWait* wait_ = nullptr;
    PollSource* source_ = nullptr;
  };

  explicit FileWait(UserThread& thread) : thread_(thread) {}
  FileWait(const FileWait&) = delete;
  FileWait& operator=(const FileWait&) = delete;

  // Until a file said something since the last sleep, or the time comes (then ETIMEDOUT), or a signal (restart).
  Answer<void> sleep(std::optional<Nanoseconds> deadline);

 private:
  UserThread& thread_;
  Atomic<bool> told_;
  WaitQueue queue_;
};

// How a call waits for one file.
struct Patience {
  bool waits = true;                   // false: the call must not (MSG_DONTWAIT)
  std::optional<Nanoseconds> until{};  // a socket's own time: then the call is over, and does not begin again
  PollSource* also = nullptr;          // tells as well
};

// Tries until the attempt says that it is done, or the program forbade to wait for more.
struct Attempt {
  bool (*is_done)(void* what);
  void* what;
};
Answer<void> attempt_when_ready(UserThread& thread, FileDescription& file, const Patience& patience, Attempt attempt);

// Does `attempt()`, an Answer that is EAGAIN while the file is not ready; sleeps for it unless the program forbade
// that.
template <class Try>
auto when_ready(UserThread& thread, FileDescription& file, Try&& attempt, const Patience& patience = {})
    -> decltype(attempt()) {
  struct Tries {
    Try& attempt;
    decltype(attempt()) answer{Errno::eagain};
  } tries{attempt};
  const auto is_done = [](void* what) {
    auto& it = *static_cast<Tries*>(what);
    it.answer = it.attempt();
    return it.answer.ok() || it.answer.error() != Errno::eagain;
  };
  const Answer<void> waited = attempt_when_ready(thread, file, patience, {is_done, &tries});
  if (!waited.ok()) return waited.error();
  return std::move(tries.answer);
}

}  // namespace ingot::os
