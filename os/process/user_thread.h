// UserThread: a thread that runs a program in ring 3, and comes to the kernel's side of itself for system calls,
// interrupts and faults.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/intrusive_list.h"
#include "base/result.h"
#include "os/memory/kernel_stack.h"
#include "os/process/pending_signals.h"
#include "os/schedule/lock_checker.h"
#include "os/schedule/thread.h"
#include "os/syscall/user_pointer.h"

namespace ingot::os {

class Process;

// What a thread does before it goes on in ring 3: bits of one word, which is 0 nearly always.
namespace program_work {
inline constexpr std::uint32_t signal = 1;   // one has come that it does not block
inline constexpr std::uint32_t ending = 2;   // its program ends
inline constexpr std::uint32_t restart = 4;  // its call was interrupted, or had a mask of its own
}  // namespace program_work

// What cuts a long call short: any signal, or only that its program is to end.
enum class EndsFor : std::uint8_t { signals, the_end };

// As the program set it (man 7 sched): kept and told, for all threads are equal. Under the lock of the threads.
struct SchedulingPolicy {
  std::uint32_t policy = 0;  // SCHED_OTHER
  std::int32_t priority = 0;
  std::int32_t niceness = 0;
  bool resets_on_fork = false;
};

// A thread's side of signals. Others look at it too: under the lock of the process's threads.
struct ThreadSignals {
  SignalSet blocked;
  SignalSet waited_for;  // by rt_sigtimedwait: blocked all the same for whoever asks if it is ignored
  std::optional<SignalSet> blocked_before;  // a call that waits has a mask of its own: what holds after it
  PendingSignals pending;
  std::optional<SignalInformation> fault;  // of its own instruction, to a handler that is there
  AlternateStack stack;
};

class UserThread : public ListLink<struct ProcessThreadsTag> {
 public:
  // All the memory that it needs on the kernel's side, taken before it begins: what happens to it later, a signal above
  // all, does not depend on whether there is more.
  struct Rooms {
    KernelStack stack;
    arch::VectorState vectors;
    arch::VectorState returned_vectors;  // as large: what a handler's frame holds is read into it
  };
  // The first instruction of the thread is the frame's.
  UserThread(Process& process, std::uint32_t number, Rooms rooms, const arch::TrapFrame& frame,
             UserAddress thread_storage);

  Process& process() { return process_; }
  std::uint32_t number() const { return number_; }  // what gettid answers
  Thread& thread() { return thread_; }
  arch::UserState& state() { return state_; }

  // Once it has ended.
  KernelStack take_stack() { return std::move(rooms_.stack); }
  arch::VectorState& vectors() { return rooms_.vectors; }
  arch::VectorState& returned_vectors() { return rooms_.returned_vectors; }

  // A wait in a system call is to end: a signal came, or the process ends.
  bool is_interrupted() const {
    return (work_.load(MemoryOrder::acquire) & (program_work::signal | program_work::ending)) != 0;
  }
  bool has_work() const { return work_.load(MemoryOrder::relaxed) != 0; }
  void add_work(std::uint32_t bits) { work_.fetch_or(bits, MemoryOrder::sequentially_consistent); }
  void drop_work(std::uint32_t bits) { work_.fetch_and(~bits, MemoryOrder::relaxed); }
  // For the thread itself, on its way to ring 3 with this frame: ends, runs handlers, lets its call begin again.
  // Signals may come while it does: its caller looks at has_work() once more.
  void work(arch::TrapFrame& frame);

  // For the thread itself, in the midst of a long call, without a spin lock: others that wait for its CPU have their
  // turn. False: the call ends with what it has done.
  bool may_go_on(EndsFor ends);

  // Sleeps until it is interrupted, or the time comes.
  void wait(std::optional<Nanoseconds> deadline);

  // A timed call that was interrupted and begins again, though no handler ran, waits until the same time.
  void keep_deadline(Nanoseconds deadline) { kept_deadline_ = deadline; }
  std::optional<Nanoseconds> take_kept_deadline() { return std::exchange(kept_deadline_, std::nullopt); }

  // For the thread itself: tells whoever waits for it in the program, and ends.
  [[noreturn]] void exit();

  // Where exit() writes 0 and wakes a futex: how pthread_join learns of the end.
  UserPointer<std::uint32_t> clear_at_exit{};
  // The locks it holds, as a list in its memory: at its end they are marked, so that others do not wait forever.
  VirtualAddress robust_list;
  bool gave_up_locks = false;  // it ends, and its locks went on to others: under the lock of FutexLocks
  ThreadSignals signals;
  std::array<char, 16> name{};  // as the program calls it
  SchedulingPolicy policy;

  // For the CPU that begins to run it, and that stops, with interrupts off.
  void begin_run() {
    state_.load();
    begun_.store(cycles_now(), MemoryOrder::relaxed);
  }
  void end_run() {
    const std::uint64_t begun = begun_.load(MemoryOrder::relaxed);
    begun_.store(0, MemoryOrder::relaxed);
    used_.store(used_.load(MemoryOrder::relaxed) + (cycles_now() - begun), MemoryOrder::release);
  }
  // That CPUs have spent on it. Another CPU may be in the midst of the above: then it is too few, never too many.
  std::uint64_t cycles() const {
    const InterruptsOff here;
    const std::uint64_t used = used_.load(MemoryOrder::acquire), begun = begun_.load(MemoryOrder::relaxed);
    const std::uint64_t now = cycles_now();
    return used + (begun != 0 && now > begun ? now - begun : 0);
  }
  Nanoseconds processor_time();

 private:
  // The same on every CPU.
  static std::uint64_t cycles_now() { return arch::cycle_count() + arch::current_cpu().cycle_offset; }
  [[noreturn]] static void enter(void* argument);
  bool run_handler(arch::TrapFrame& frame, const SignalInformation& information, const SignalAction& action);
  void finish_call(arch::TrapFrame& frame, const SignalAction* handler);

  Process& process_;
  std::uint32_t number_;
  Rooms rooms_;
  arch::UserState state_;
  arch::TrapFrame first_frame_;
  Atomic<std::uint32_t> work_;
  Atomic<std::uint64_t> used_;   // cycles, without those since it runs
  Atomic<std::uint64_t> begun_;  // to run; 0: it does not
  std::optional<Nanoseconds> kept_deadline_;
  std::optional<LockChecker> lock_checker_;
  Thread thread_;
};

}  // namespace ingot::os
