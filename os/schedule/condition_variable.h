// ConditionVariable: sleeping, with a mutex given back, until somebody says that what it guards has changed.
#pragma once

#include "os/schedule/mutex.h"

namespace ingot::os {

class ConditionVariable {
 public:
  // Precondition: the current thread holds `mutex`, and does again on return. Other threads may have run in between:
  // wait(mutex, condition) looks again.
  void wait(Mutex& mutex);
  template <class Condition>
  void wait(Mutex& mutex, Condition&& condition) {
    while (!condition()) wait(mutex);
  }

  void wake_one();
  void wake_all();

 private:
  Locked<WaitList, SharedWith::interrupts> waiters_{LockRank::wait};
};

}  // namespace ingot::os
