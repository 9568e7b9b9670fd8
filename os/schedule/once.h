// Once: the first to come does it, the others wait until it is done. A failure is not done: the next tries again.
#pragma once

#include "base/atomic.h"
#include "base/result.h"
#include "os/schedule/mutex.h"

namespace ingot::os {

class Once {
 public:
  explicit Once(LockRank rank) : mutex_(rank) {}

  template <class Action>
  Result<void> call(Action&& action) {
    if (done_.load(MemoryOrder::acquire)) return {};
    const MutexGuard guard(mutex_);
    if (done_.load(MemoryOrder::relaxed)) return {};
    TRY(action());
    done_.store(true, MemoryOrder::release);
    return {};
  }

 private:
  Mutex mutex_;
  Atomic<bool> done_;
};

}  // namespace ingot::os
