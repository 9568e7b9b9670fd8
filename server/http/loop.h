// Loop: one thread that waits for descriptors, for moments and for other threads. What it is made of (Asio) is not seen
// from here.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "base/result.h"

namespace ingot::http {

enum class Readiness : std::uint8_t { readable, writable };

class Watcher {
 public:
  virtual ~Watcher() = default;
  virtual void on_ready(Readiness readiness) = 0;
};

// A descriptor that is watched; closed with it.
class Watch {
 public:
  virtual ~Watch() = default;
  virtual int descriptor() const = 0;
  // Calls it once when the descriptor is ready, on the loop's thread and never from in here. It is kept until then, and
  // must not mind a call that comes after the watch has ended.
  virtual void wait(Readiness readiness, std::shared_ptr<Watcher> watcher) = 0;
};

class Loop {
 public:
  static Result<std::unique_ptr<Loop>> create();
  virtual ~Loop() = default;

  // Takes the descriptor, which is closed where this fails.
  virtual Result<std::unique_ptr<Watch>> watch(int descriptor) = 0;
  virtual void run() = 0;

  // --- from any thread ---
  virtual void stop() = 0;
  virtual void post(std::function<void()> task) = 0;
  virtual void post_after(std::chrono::milliseconds delay, std::function<void()> task) = 0;
};

}  // namespace ingot::http
