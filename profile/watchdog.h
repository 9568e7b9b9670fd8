// Watchdog: a thread that looks whether another still gets on. A kernel that hangs, or that was stopped where it
// touched memory that is nobody's, cannot be ended safely; but it can be named, and the program can end with what it
// knows.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "machine/guard_watch.h"

namespace ingot {

// A kernel that does not come back.
struct StuckRun {
  std::string operation;
  std::string variant;
  std::string where;  // which case
  std::string why;
};

class Watchdog {
 public:
  using OnStuck = std::function<void(const StuckRun&)>;

  // `limit`: how long a run may take; 0: as long as it likes. `on_stuck` is called on the watchdog's thread, once a
  // run, while the run's own thread is in it or waits at its end: it may read what that thread works on. A run that is
  // only slow goes on where on_stuck returns.
  Watchdog(std::chrono::duration<double> limit, OnStuck on_stuck);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  // A run, from here to the end of its scope.
  class Run {
   public:
    Run(Watchdog& watchdog, const GuardWatch& guards, std::string_view operation, std::string_view variant,
        std::string_view where);
    ~Run();
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;

   private:
    friend class Watchdog;
    Watchdog& watchdog_;
    const GuardWatch& guards_;
    std::string_view operation_, variant_, where_;
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
    bool is_reported_ = false;
  };

 private:
  void look_until_stopped();
  std::string why_stuck(const Run& run) const;  // empty: it is not

  std::chrono::duration<double> limit_;
  OnStuck on_stuck_;
  std::mutex mutex_;
  std::condition_variable stopped_;
  bool is_stopping_ = false;
  Run* current_ = nullptr;
  std::thread thread_;
};

}  // namespace ingot
