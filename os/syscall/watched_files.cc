#include "os/syscall/watched_files.h"

#include <memory>

namespace ingot::os {

WatchedFiles::~WatchedFiles() {
  for (Watched& it : files()) std::destroy_at(&it);
  if (files_ != nullptr) heap_.free(files_, count_ * sizeof(Watched), alignof(Watched));
}

Answer<void> WatchedFiles::create(std::size_t count) {
  if (count == 0) return {};
  files_ = static_cast<Watched*>(TRY(heap_.allocate(count * sizeof(Watched), alignof(Watched))));
  count_ = count;
  for (Watched& it : files()) std::construct_at(&it);
  return {};
}

std::size_t WatchedFiles::look() {
  std::size_t ready = 0;
  for (Watched& it : files()) {
    if (it.file) it.found = it.file->poll() & (it.wanted | poll_event::always);
    if (it.found != 0) ++ready;
  }
  return ready;
}

void WatchedFiles::leave() {
  for (Watched& it : files()) it.place.leave();
}

Answer<std::size_t> WatchedFiles::wait(UserThread& thread, Nanoseconds now, Until deadline) {
  if (const std::size_t ready = look(); ready != 0 || (deadline && *deadline <= now)) return ready;
  FileWait wait(thread);
  for (Watched& it : files()) {
    if (it.file) it.place.join(wait, *it.file);
  }
  while (true) {
    std::size_t ready = look();
    if (ready == 0) {
      Until until = deadline;
      for (Watched& it : files()) {
        // It becomes readable then. Whoever does not ask for that would look for ever, once the time has come.
        if (it.file && (it.wanted & poll_event::readable) != 0) until = sooner(until, it.file->ready_at());
      }
      const Answer<void> slept = wait.sleep(until);
      if (slept.ok()) continue;
      if (slept.error() == Errno::etimedout && until != deadline) continue;
      ready = look();
      if (ready == 0 && slept.error() != Errno::etimedout) {
        leave();
        if (deadline) thread.keep_deadline(*deadline);
        return Errno::restart_without_handler;
      }
    }
    leave();
    return ready;
  }
}

}  // namespace ingot::os
