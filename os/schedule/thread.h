// Thread: a stack that can be left and taken up again, and the states it goes through.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/atomic.h"
#include "base/intrusive_list.h"
#include "os/schedule/wait_queue.h"

namespace ingot::os {

class AddressSpace;  // os/memory/address_space.h

//                      start                picked
//            created ---------> ready <---------------> running -----------------.
//                                 ^        yielding        |                     |
//                            wake |                        | wants to sleep      | leaves
//                                 |  stack left            v                     v
//                              blocked <--------------- blocking             finishing
//                                                          | wake                | stack left
//                                    its own CPU           v                     v
//                                 ready/running <------- woken                finished
//
// A thread that sleeps is first `blocking`: it still stands on its stack, and nobody else may run it. Only when its CPU
// has left the stack it becomes `blocked`. A wake-up in between is kept as `woken`, which its own CPU finds.
enum class ThreadState : std::uint8_t {
  created,
  ready,      // in a run queue
  running,    // on a CPU
  yielding,   // on a CPU, goes back to a run queue as soon as its stack is left
  blocking,   // on a CPU, announced that it will sleep
  woken,      // was blocking, and somebody woke it before its stack was left
  blocked,    // asleep
  finishing,  // on a CPU for the last time
  finished,   // its stack can be freed
};

constexpr std::string_view name_of(ThreadState state) {
  constexpr std::array<std::string_view, 9> names = {"created", "ready",   "running",   "yielding", "blocking",
                                                     "woken",   "blocked", "finishing", "finished"};
  return names[static_cast<std::size_t>(state)];
}

class Thread : public ListLink<struct RunQueueTag> {
 public:
  explicit Thread(std::string_view name) : name_(name) {}

  std::string_view name() const { return name_; }
  ThreadState state() const { return state_.load(MemoryOrder::acquire); }
  // The CPU it ran on last: its caches may still know it.
  std::uint32_t last_cpu() const { return last_cpu_.load(MemoryOrder::relaxed); }

  // The CPUs it may run on, a bit each; of those that there are, one at least. Changed by Scheduler::restrict.
  static constexpr std::uint64_t every_cpu = ~std::uint64_t{0};
  std::uint64_t allowed_cpus() const { return allowed_cpus_.load(MemoryOrder::relaxed); }
  bool may_run_on(std::uint32_t cpu) const { return (allowed_cpus() >> cpu & 1) != 0; }

  // Sleeps until it has finished. After that nothing of the kernel points at it.
  void join() {
    finished_.wait_until([this] { return state() == ThreadState::finished; });
  }

  // The first half of going to sleep, done while the lock of what it waits for is held; Scheduler::block is the second.
  // A waker that comes after that lock was given back will not be lost.
  void prepare_to_block() {
    // A thread sleeps in one list at a time, and only itself.
    if (!move_state(ThreadState::running, ThreadState::blocking)) __builtin_trap();
  }

  // Where the context switch finds the rest of this thread when it is not running.
  void* saved_context = nullptr;
  // Its vector registers; none: it does not touch them.
  arch::VectorState* vector_state = nullptr;
  // The mutex it sleeps for; under the scheduler's wait_graph.
  const class Mutex* waits_for = nullptr;
  // What its addresses below the kernel's half mean; nullptr: nothing. Changed by use_address_space.
  AddressSpace* address_space = nullptr;
  // The program it runs; nullptr: it stays in the kernel.
  class UserThread* user_thread = nullptr;
  // The locks it sleeps for and holds; none: they are not checked.
  LockChecker* lock_checker = nullptr;

 private:
  friend class Scheduler;

  bool move_state(ThreadState from, ThreadState to) {
    return state_.compare_exchange(from, to, MemoryOrder::acquire_release);
  }

  std::string_view name_;
  Atomic<ThreadState> state_{ThreadState::created};
  Atomic<std::uint32_t> last_cpu_;
  Atomic<std::uint64_t> allowed_cpus_{every_cpu};
  WaitQueue finished_;
};

}  // namespace ingot::os
