// Passes: the one thread that computes. Models that are served side by side take turns on it, a pass each, so that they
// do not take the processors from one another in the middle of one.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "engine/bell.h"

namespace ingot {

class Passes {
 public:
  // What is rung when there is something to compute.
  Bell& bell() { return bell_; }

  struct Model {
    std::function<bool()> step;  // one pass; false: there was nothing to compute
    // When it must be stepped again all the same.
    std::function<std::optional<std::chrono::steady_clock::time_point>()> earliest_deadline;
    std::function<void()> cancel_all;  // ends its requests, and tells them
  };
  // Before run().
  void add(Model model) { models_.push_back(std::move(model)); }
  // On the calling thread, until stop(). Whoever is left then is told, while all that he is told by is still there.
  void run();

  // --- from any thread ---
  // Runs between two passes: for what else needs a model's session.
  void post(std::function<void()> task);
  // Ends the requests of all models before the next pass.
  void cancel_all();
  void stop();

 private:
  bool run_tasks();
  void wait();
  void cancel_models();

  Bell bell_;
  std::vector<Model> models_;
  std::atomic<bool> is_stopped_ = false;
  std::mutex mutex_;
  std::vector<std::function<void()>> tasks_;
};

}  // namespace ingot
