// What one thread may use at a time, in the process that made it. Both rules are kept by an error: a second thread
// would spoil what the first computes, and a process that was forked has none of the threads that compute.
#pragma once

#include <unistd.h>

#include <atomic>
#include <string_view>

#include "bindings/python/failure.h"

namespace ingot::python {

class OneThread {
 public:
  class Turn {
   public:
    Turn(Turn&& other) noexcept : owner_(std::exchange(other.owner_, nullptr)) {}
    Turn& operator=(Turn&&) = delete;
    ~Turn() {
      if (owner_ != nullptr) owner_->is_used_.clear(std::memory_order_release);
    }

   private:
    friend OneThread;
    explicit Turn(OneThread* owner) : owner_(owner) {}
    OneThread* owner_;
  };

  Turn take(std::string_view what) {
    if (!is_at_home()) {
      throw Failure{Error::of(ErrorCode::invalid_argument, "expected ", what,
                              " in the process that made it, found a fork of that: make one after forking")};
    }
    if (is_used_.test_and_set(std::memory_order_acquire)) {
      throw Failure{Error::of(ErrorCode::would_block, "expected one thread at a time in ", what,
                              ", found a second: give each thread a session of its own")};
    }
    return Turn(this);
  }
  bool is_at_home() const { return process_ == getpid(); }

 private:
  std::atomic_flag is_used_;
  const pid_t process_ = getpid();
};

}  // namespace ingot::python
