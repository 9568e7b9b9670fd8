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

}  // namespace ingot::os
