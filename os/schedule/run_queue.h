// RunQueue: the threads of one CPU that are ready. Those of the kernel that were woken come first, because a device
// waits for them; the others are served as they came. Other CPUs put threads in and, when they have nothing to do, take
// some away.
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
  enum class Turn : std::uint8_t { first, as_it_came };
  void push(Thread& thread, Turn turn) {
    threads_.with_interrupts_off([&](Threads& threads) {
      (turn == Turn::first ? threads.first : threads.others).push_back(thread);
      const std::size_t before = count_.fetch_add(1, MemoryOrder::relaxed);
      if (turn == Turn::first) is_urgent_.store(true, MemoryOrder::relaxed);
      return before;
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
  // The same for those that come first: no program goes on before them.
  bool is_urgent() const { return is_urgent_.load(MemoryOrder::relaxed); }

 private:
  using List = IntrusiveList<Thread, struct RunQueueTag>;
  struct Threads {
    List first, others;
  };

  template <class From>
  Thread* take(From&& from) {
    if (looks_empty()) return nullptr;
    return threads_.with_interrupts_off([&](Threads& threads) {
      Thread* thread = nullptr;
      if (!threads.first.is_empty()) {
        thread = from(threads.first);
        is_urgent_.store(!threads.first.is_empty(), MemoryOrder::relaxed);
      }
      if (thread == nullptr) thread = from(threads.others);
      if (thread != nullptr) count_.fetch_subtract(1, MemoryOrder::relaxed);
      return thread;
    });
  }

  Locked<Threads, SharedWith::interrupts> threads_{LockRank::run_queue};
  Atomic<std::size_t> count_;
  Atomic<bool> is_urgent_;
};

}  // namespace ingot::os
