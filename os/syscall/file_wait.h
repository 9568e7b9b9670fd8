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

// Does `attempt()`, an Answer that is EAGAIN while the file is not ready; sleeps for it unless the program forbade
// that.
template <class Attempt>
auto when_ready(UserThread& thread, FileDescription& file, Attempt&& attempt) -> decltype(attempt()) {
  auto answer = attempt();
  if (answer.ok() || answer.error() != Errno::eagain || file.non_blocking()) return answer;
  FileWait wait(thread);
  FileWait::Place place;
  place.join(wait, file);
  while (true) {
    answer = attempt();
    if (answer.ok() || answer.error() != Errno::eagain) return answer;
    const Answer<void> slept = wait.sleep(file.ready_at());
    if (!slept.ok() && slept.error() != Errno::etimedout) return slept.error();
  }
}

}  // namespace ingot::os
