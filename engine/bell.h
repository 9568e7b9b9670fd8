// Bell: how the threads that bring work wake the one that runs the passes. Several services share one, since one thread
// runs them all.
//
//   bell.ring();                                                      any thread, when there is something to do
//   while (...) if (!first.step() && !second.step()) bell.wait();     the thread of passes
//
// A ring while nobody waits is kept: the next wait returns at once.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>

namespace ingot {

class Bell {
 public:
  void ring() {
    const std::lock_guard lock(mutex_);
    is_rung_ = true;
    changed_.notify_all();
  }

  // Until it was rung since the last wait, or that time has come.
  void wait(std::optional<std::chrono::steady_clock::time_point> until = {}) {
    std::unique_lock lock(mutex_);
    const auto is_rung = [this] { return is_rung_; };
    if (until) {
      changed_.wait_until(lock, *until, is_rung);
    } else {
      changed_.wait(lock, is_rung);
    }
    is_rung_ = false;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_rung_ = false;
};

}  // namespace ingot
