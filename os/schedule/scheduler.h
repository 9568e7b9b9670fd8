// Scheduler: which thread runs where. Cooperative: a thread keeps its CPU until it yields, sleeps or ends; but a thread
// of the kernel that is woken takes the CPU from a program at once. Every CPU has a queue of its own; one that has
// nothing to do takes threads from the others before it halts.
//
// What it decides is plain logic over a ScheduleMachine: tests run it on simulated CPUs, in every order of their steps.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "base/atomic.h"
#include "base/image/machine_limits.h"
#include "base/result.h"
#include "os/arch/arch.h"
#include "os/schedule/lock_checker.h"
#include "os/schedule/run_queue.h"
#include "os/schedule/thread.h"
#include "os/schedule/time_slice.h"
#include "os/schedule/timer_queue.h"
#include "os/schedule/wait_list.h"

namespace ingot::os {

class Scheduler;

// What the scheduler needs of the hardware.
class ScheduleMachine {
 public:
  // Leaves `from` and continues `to` on this CPU; returns when some CPU continues `from`. Interrupts are off. A thread
  // that starts begins by calling Scheduler::begin_thread.
  virtual void switch_context(Thread& from, Thread& to) = 0;
  // Interrupts another CPU, so that it leaves wait_for_interrupt.
  virtual void notify(std::uint32_t cpu) = 0;
  // Called with interrupts off. Returns after an interrupt, also one that was pending at the call.
  virtual void wait_for_interrupt() = 0;

 protected:
  ~ScheduleMachine() = default;
};

// What the kernel keeps for each CPU. Only this CPU touches it, but for the queue.
struct Processor : arch::ProcessorHeader {
  explicit Processor(std::uint32_t number) : idle("idle") { index = number; }

  Scheduler* scheduler = nullptr;
  Thread* current = &idle;
  Thread* left = nullptr;  // the thread whose stack this CPU is leaving
  Thread idle;             // the stack the CPU started on; in no queue, ready when nothing else is
  RunQueue ready;
  std::optional<TimerQueue> timers;  // once there is an alarm
  TimeSlice slice;
  Atomic<bool> runs_programs;       // since its first: it may be in ring 3, and see no queue until it is interrupted
  class Executor* tasks = nullptr;  // once start_tasks gave it one
  std::uint64_t switches = 0;
  std::uint64_t steals = 0;
  std::optional<LockCheckers> lock_checkers;
  // Before the program of its thread goes on: whether another thread goes first, or this one may not stay.
  bool is_wanted_at_once() const { return ready.is_urgent() || !current->may_run_on(index); }

  [[no_unique_address]] arch::ProcessorTables part;
};

// Precondition of both: Scheduler::adopt_cpu ran on this CPU.
inline Processor& current_processor() { return static_cast<Processor&>(arch::current_cpu()); }
inline Scheduler& current_scheduler() { return *current_processor().scheduler; }

class Scheduler {
 public:
  static constexpr std::size_t most_processors = most_machine_cpus;
  static_assert(most_processors <= 64);  // bits of the set of idle CPUs

  explicit Scheduler(ScheduleMachine& machine) : machine_(machine) {}

  // Before any CPU is added: who is told of deadlocks, and whether every CPU and thread keeps a record of its locks.
  enum class LockChecks : bool { off, on };
  void report_locks(LockViolationHandler& handler, LockChecks checks) {
    lock_reports_ = &handler;
    lock_checks_ = checks;
  }
  // None: they keep no record.
  LockViolationHandler* lock_checks() const { return lock_checks_ == LockChecks::on ? lock_reports_ : nullptr; }
  // One CPU after the other, before each starts. They carry their place as index.
  Result<void> add(Processor& processor);
  std::uint32_t processor_count() const { return count_.load(MemoryOrder::relaxed); }
  std::span<Processor* const> processors() const { return {processors_.data(), count_.load(MemoryOrder::acquire)}; }

  // The caller becomes this CPU's idle thread.
  void adopt_cpu(Processor& processor);
  // The idle thread's life, and one turn of it: runs what can run, or halts until an interrupt.
  [[noreturn]] void idle() {
    arch::enable_interrupts();
    for (;;) idle_once();
  }
  void idle_once();

  // A created thread becomes ready, near the CPU that started it if it may run there.
  void start(Thread& thread);
  // Lets the others of this CPU run first. Returns at once when there are none, and the thread may run here.
  void yield();
  // The thread runs on these CPUs only, from its next stay in ring 3 on; the current one from now on. Precondition: the
  // scheduler has one of them.
  void restrict(Thread& thread, std::uint64_t cpus);
  // The second half of going to sleep, after Thread::prepare_to_block.
  void block();
  // Ends the sleep that a thread has prepared or begun. False when it was in neither: somebody else was quicker.
  bool wake(Thread& thread);
  // Interrupts the CPU that runs the thread, if one does: what it was told since is then seen before its program goes
  // on.
  void interrupt(Thread& thread);
  [[noreturn]] void exit();

  // The first thing a new thread does.
  void begin_thread();

  Locked<WaitGraph, SharedWith::interrupts> wait_graph{LockRank::wait_graph};

 private:
  void enqueue(Thread& thread, RunQueue::Turn turn);
  static RunQueue::Turn turn_of_woken(const Thread& thread) {
    return thread.user_thread == nullptr ? RunQueue::Turn::first : RunQueue::Turn::as_it_came;
  }
  std::uint32_t call_idle_cpu(std::uint32_t preferred, std::uint64_t allowed);
  Thread* own_thread(Processor& processor);
  // Apart, so that a switch between threads that may run anywhere stays within its budget of instructions.
  [[gnu::noinline]] std::uint32_t place_of(std::uint64_t allowed) const;
  [[gnu::noinline]] Thread* send_away(Processor& processor, Thread* thread);
  Thread* next_thread(Processor& processor);
  void switch_to(Processor& processor, Thread& next);
  void finish_switch();

  ScheduleMachine& machine_;
  LockViolationHandler* lock_reports_ = nullptr;
  LockChecks lock_checks_ = LockChecks::off;
  std::array<Processor*, most_processors> processors_{};
  Atomic<std::uint32_t> count_;  // of the processors
  Atomic<std::uint64_t> idle_cpus_;
};

}  // namespace ingot::os
