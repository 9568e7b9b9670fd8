// Helpers: threads for what takes a while and is no pass, so that neither the loop nor the passes wait for it: reading
// JSON, rendering templates, tokenizing, spelling vectors.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace ingot {

class Helpers {
 public:
  explicit Helpers(int threads);
  // What was handed in is done first.
  ~Helpers();

  // From any thread.
  void run(std::function<void()> task);

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  bool is_ending_ = false;
  std::vector<std::thread> threads_;  // the last member: they use the others
};

}  // namespace ingot
