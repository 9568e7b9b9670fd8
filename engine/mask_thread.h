// MaskThread: computes which tokens may come next, beside the passes.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace ingot {

class MaskThread {
 public:
  MaskThread() = default;
  // What is being computed is computed first; what waits is dropped.
  ~MaskThread();
  MaskThread(const MaskThread&) = delete;
  MaskThread& operator=(const MaskThread&) = delete;

  // From any thread. The thread begins with the first.
  void run(std::function<void()> work);

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  bool is_ending_ = false;
  std::thread thread_;
};

}  // namespace ingot
