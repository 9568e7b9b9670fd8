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

// Of what waits.
struct HelperLimits {
  std::size_t tasks = 4096;
  std::size_t bytes = 256 << 20;
};

struct HelperTask {
  std::function<void()> work;
  std::size_t bytes = 0;        // that are held while it waits
  const void* owner = nullptr;  // who may drop it
};

class Helpers {
 public:
  explicit Helpers(int threads, HelperLimits limits = {});
  ~Helpers() { end(); }
  Helpers(const Helpers&) = delete;
  Helpers& operator=(const Helpers&) = delete;

  // --- from any thread ---
  // The rest of what was taken before, which nobody may refuse any more: before all that was only offered.
  void run(std::function<void()> work);
  // False where more waits than should, or they end. One that is larger than the limit is taken where it is alone.
  [[nodiscard]] bool offer(HelperTask task);
  // Whether a task of this owner waited, which is not done any more.
  bool drop(const void* owner);

  // What is being done is done first, what waits is dropped.
  void end();

 private:
  void work();

  const HelperLimits limits_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<HelperTask> tasks_;
  std::size_t bytes_ = 0;  // of those
  bool is_ending_ = false;
  std::vector<std::thread> threads_;  // the last member: they use the others
};

}  // namespace ingot
