#include "server/helpers.h"

#include <algorithm>
#include <utility>

namespace ingot {

Helpers::Helpers(int threads, HelperLimits limits) : limits_(limits) {
  for (int index = 0; index < threads; ++index) threads_.emplace_back([this] { work(); });
}

void Helpers::end() {
  {
    std::deque<HelperTask> dropped;  // without the lock: what they hold has locks of its own
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
    dropped.swap(tasks_);
    bytes_ = 0;
  }
  changed_.notify_all();
  for (std::thread& thread : std::exchange(threads_, {})) thread.join();
}

void Helpers::run(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    if (is_ending_) return;
    tasks_.push_front({std::move(work)});
  }
  changed_.notify_one();
}

bool Helpers::offer(HelperTask task) {
  {
    const std::lock_guard lock(mutex_);
    const bool is_too_large = bytes_ > 0 && bytes_ + task.bytes > limits_.bytes;
    if (is_ending_ || is_too_large || tasks_.size() >= limits_.tasks) return false;
    bytes_ += task.bytes;
    tasks_.push_back(std::move(task));
  }
  changed_.notify_one();
  return true;
}

bool Helpers::drop(const void* owner) {
  HelperTask dropped;
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(tasks_, owner, &HelperTask::owner);
  if (found == tasks_.end()) return false;
  bytes_ -= found->bytes;
  dropped = std::move(*found);
  tasks_.erase(found);
  return true;
}

void Helpers::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return is_ending_ || !tasks_.empty(); });
    if (is_ending_) return;
    {
      const HelperTask task = std::move(tasks_.front());
      tasks_.pop_front();
      bytes_ -= task.bytes;
      lock.unlock();
      task.work();
    }
    lock.lock();
  }
}

}  // namespace ingot
