// Process: a program's memory, its threads, and how it ends. Whoever creates one runs it: run() returns with its
// status.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/atomic.h"
#include "base/intrusive_list.h"
#include "base/result.h"
#include "os/file/process_files.h"
#include "os/memory/address_space.h"
#include "os/memory/owned.h"
#include "os/process/futex.h"
#include "os/process/futex_locks.h"
#include "os/process/process_timers.h"
#include "os/process/program_memory.h"
#include "os/process/resource_limits.h"
#include "os/process/signal.h"
#include "os/process/user_thread.h"
#include "os/schedule/wait_queue.h"

namespace ingot::os {

struct Kernel;

class Process {
 public:
  // With an empty address space and no thread.
  static Result<Owned<Process>> create(Kernel& kernel, std::uint64_t memory_limit,
                                       WritableCode writable_code = WritableCode::refused);
  Process(Kernel& kernel, Owned<ProgramMemory> memory, Owned<ProcessFiles> files)
      : kernel_(kernel), files_(std::move(files)), memory_(std::move(memory)), locks_(*this), timers_(*this) {
    start_limits();
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  Kernel& kernel() { return kernel_; }
  ProgramMemory& memory() { return *memory_; }
  ProcessFiles& files() { return *files_; }
  std::uint32_t thread_count();
  AddressSpace& space() { return memory_->space(); }
  FutexTable& futexes() { return futexes_; }
  FutexLocks& locks() { return locks_; }
  ProcessTimers& timers() { return timers_; }
  std::uint32_t number() const { return 1; }  // what getpid answers: there is one process

  // A thread that begins with the frame, not yet running: its caller may finish it before start().
  Result<UserThread*> add_thread(const arch::TrapFrame& frame, UserAddress thread_storage);
  void start(UserThread& thread);
  // use(thread) for the thread of this number, which cannot end meanwhile. False: there is none.
  template <class Use>
  bool with_thread(std::uint32_t number, Use&& use) {
    return threads_.with([&](Threads& threads) {
      for (UserThread& thread : threads.living) {
        if (thread.number() != number) continue;
        use(thread);
        return true;
      }
      return false;
    });
  }

  template <class Use>
  void each_thread(Use&& use) {
    threads_.with([&](Threads& threads) {
      for (UserThread& thread : threads.living) use(thread);
    });
  }

  // What it may use at most. EINVAL, EPERM: as ResourceLimits says.
  ResourceLimit limit_of(Resource resource);
  // Before it runs: as many files as the manifest says.
  void limit_descriptors(std::uint32_t most);
  Answer<void> change_limit(Resource resource, const ResourceLimit& wanted);
  std::uint64_t most_file_bytes() const { return most_file_bytes_.load(MemoryOrder::relaxed); }

  // The status of a program whose last thread ends without end(). Linux gives what that thread said.
  void remember_status(int status) {
    if (!is_ending()) status_.store(status, MemoryOrder::release);
  }
  // The end of all threads: those that wait go on, those that run are interrupted, and each ends before it would go on
  // in ring 3. The first status counts.
  void end(int status);
  bool is_ending() const { return ending_.load(MemoryOrder::relaxed); }
  // It ends, or will when the thread takes what has come to it.
  bool is_to_end(UserThread& thread);
  // For the thread itself, which is never heard of again.
  [[noreturn]] void thread_ends(UserThread& thread);

  // Waits until the last thread has ended, and frees each. The exit status.
  int run();

  // That CPUs spent on its threads, in ring 3 and in the kernel. Never less than it was.
  Nanoseconds processor_time();
  // Of one of them; 0: of none.
  Nanoseconds processor_time_of(std::uint32_t thread);

  // Signals (process_signals.cc).
  //
  // To one thread, or to whichever of all does not block it (0). The signal 0 only asks whether there is one. ESRCH,
  // EAGAIN: no memory for one that queues.
  Answer<void> send(const SignalInformation& information, std::uint32_t thread = 0);
  // The same, of a sender that may be an interrupt handler, and does not send it anew before it has arrived. One that
  // is still under way is lost: false.
  bool post(QueuedSignal& signal, std::uint32_t thread = 0);
  // Before that sender goes.
  void withdraw(QueuedSignal& signal);
  // To the current thread, for what its own instruction did. False: nobody handles it, and the program should end.
  bool send_fault(UserThread& thread, const SignalInformation& information);
  SignalAction action_of(Signal signal);
  SignalAction exchange_action(Signal signal, const SignalAction& action);
  SignalSet signals_with(std::uint64_t handler);  // SignalAction::ignore; else any handler: what /proc tells
  // Where handlers run that ask for it. ENOMEM: not even an empty handler would have room there.
  Answer<void> set_signal_stack(UserThread& thread, const AlternateStack& stack);
  // Parts of the vector state that its threads have from their first use on. ENOSPC: some thread's stack for signals is
  // too small for the larger frames.
  Answer<void> grant_vector_parts(std::uint64_t parts);
  std::uint64_t granted_vector_parts();
  void set_blocked(UserThread& thread, SignalSet blocked, SignalSet waited_for = SignalSet());
  SignalSet pending_for(UserThread& thread);
  struct TakenSignal {
    SignalInformation information;
    SignalAction action;  // what held when it was taken
    std::uint32_t timer = 0;
  };
  // The next of those that are allowed, if one has come to the thread or to all.
  enum class TakeFor : bool { handler, waiter };
  std::optional<TakenSignal> take_signal(UserThread& thread, SignalSet allowed, TakeFor purpose);

 private:
  using ThreadList = IntrusiveList<UserThread, struct ProcessThreadsTag>;
  struct Threads {
    ThreadList living;
    ThreadList ended;
    std::uint32_t next_number = 1;
    // Of threads that ended, for those to come: mapping one costs more than the rest of a thread.
    std::array<KernelStack, 4> spare_stacks;
    std::size_t spare_stack_count = 0;
    std::array<SignalAction, signal_count> actions{};
    PendingSignals pending;           // sent to no thread in particular
    std::uint64_t granted_parts = 0;  // of the vector state, that it asked for
    std::uint64_t freed_cycles = 0;   // of threads that are gone
    std::uint64_t most_cycles = 0;    // that were told of

    UserThread* find(std::uint32_t number);
    SignalAction& action(Signal signal) { return actions[static_cast<std::uint32_t>(signal) - 1]; }
  };
  void end_threads(Threads& threads, int status);
  void tell(UserThread& thread);
  void look_for_signals(Threads& threads, UserThread& thread);
  void offer(Threads& threads, SignalSet signals, const UserThread* not_to);
  bool is_lost(Threads& threads, UserThread* to, Signal signal);
  void deliver(Threads& threads, UserThread* to, Signal signal);

  void start_limits();
  Result<KernelStack> take_stack();
  void keep_stack(KernelStack stack);

  Kernel& kernel_;
  // Files go last: mappings show them.
  Owned<ProcessFiles> files_;
  Owned<ProgramMemory> memory_;
  FutexTable futexes_;
  FutexLocks locks_;
  Locked<Threads, SharedWith::interrupts> threads_{LockRank::process};
  WaitQueue thread_ended_;
  ProcessTimers timers_;
  Mutex changing_limits_{LockRank::program};
  Locked<ResourceLimits> limits_{LockRank::process};
  Atomic<std::uint64_t> most_file_bytes_{ResourceLimit::unlimited};
  Atomic<bool> ending_;
  Atomic<int> status_;
};

// A page of the current program cannot be had. No handler could run without it either: as on Linux that has no memory,
// the program is killed, with a report. A kernel thread that met it, without `thread`, goes on.
void end_without_memory(Kernel& kernel, UserThread* thread, const Error& error);

}  // namespace ingot::os
