#include "os/syscall/file_wait.h"

namespace ingot::os {

void FileWait::Place::join(FileWait& wait, PollSource* source) {
  source_ = source;
  wait_ = &wait;
  if (source_ != nullptr) source_->join(*this);
}

void FileWait::Place::leave() {
  if (source_ != nullptr) source_->leave(*this);
  source_ = nullptr;
}

void FileWait::Place::notified(std::uint32_t) {
  wait_->queue_.wake_all_after([this] { wait_->told_.store(true, MemoryOrder::release); });
}

Answer<void> FileWait::sleep(std::optional<Nanoseconds> deadline) {
  const auto goes_on = [this] { return told_.load(MemoryOrder::acquire) || thread_.is_interrupted(); };
  if (deadline) {
    queue_.wait_until(goes_on, *deadline);
  } else {
    queue_.wait_until(goes_on);
  }
  if (told_.exchange(false, MemoryOrder::acquire_release)) return {};
  return thread_.is_interrupted() ? Errno::restart : Errno::etimedout;
}

Answer<void> attempt_when_ready(UserThread& thread, FileDescription& file, const Patience& patience, Attempt attempt) {
  const auto is_done = [&] { return attempt.is_done(attempt.what); };
  if (is_done() || file.non_blocking() || !patience.waits) return {};
  FileWait wait(thread);
  FileWait::Place place, other_place;
  place.join(wait, file);
  other_place.join(wait, patience.also);
  for (bool is_late = false; !is_done() && !is_late;) {
    const Answer<void> slept = wait.sleep(patience.until ? patience.until : file.ready_at());
    is_late = patience.until && !slept.ok();
    if (!slept.ok() && slept.error() != Errno::etimedout) return is_late ? Errno::eintr : slept;
  }
  return {};
}

}  // namespace ingot::os
