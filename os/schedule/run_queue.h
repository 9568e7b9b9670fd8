// RunQueue: the threads of one CPU that are ready, first come first served. Other CPUs put threads in and, when they
// have nothing to do, take some away.
#pragma once

#include <cstddef>

#include "base/atomic.h"
#include "base/intrusive_list.h"
#include "os/schedule/locked.h"
#include "os/schedule/thread.h"

namespace ingot::os {

// Precondition of each function: interrupts are off.
class RunQueue {
 public:
  void push(Thread& thread) {
    threads_.with_interrupts_off([&](List& list) {
      list.push_back(thread);
      return count_.fetch_add(1, MemoryOrder::relaxed);
    });
  }
  // For its own CPU: the thread that waited longest. nullptr when empty.
  Thread* pop() {
    return take([](List& list) { return list.pop_front(); });
  }
  // For another CPU: of the threads that may run there, the one that would wait longest here.
  Thread* steal(std::uint32_t cpu) {
    return take([&](List& list) {
      Thread* last = list.last();
      if (last != nullptr && !last->may_run_on(cpu)) {
        last = nullptr;
        for (Thread& thread : list) last = thread.may_run_on(cpu) ? &thread : last;
      }
      if (last != nullptr) list.remove(*last);
      return last;
    });
  }
  // Without the lock: exact for a reader whose fence comes after that of the last to push.
  bool looks_empty() const { return count_.load(MemoryOrder::relaxed) == 0; }

 private:
  using List = IntrusiveList<Thread, struct RunQueueTag>;

  template <class From>
  Thread* take(From&& from) {
    if (looks_empty()) return nullptr;
    return threads_.with_interrupts_off([&](List& list) {
      Thread* thread = from(list);
      if (thread != nullptr) count_.fetch_subtract(1, MemoryOrder::relaxed);
      return thread;
    });
  }

  Locked<List, SharedWith::interrupts> threads_{LockRank::run_queue};
  Atomic<std::size_t> count_;
};

}  // namespace ingot::os
