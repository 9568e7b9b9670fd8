// Process: a program's memory, its threads, and how it ends. Whoever creates one runs it: run() returns with its
// status.
#pragma once

#include <cstdint>

#include "base/atomic.h"
#include "base/intrusive_list.h"
#include "base/result.h"
#include "os/file/process_files.h"
#include "os/memory/address_space.h"
#include "os/memory/owned.h"
#include "os/process/futex.h"
#include "os/process/program_memory.h"
#include "os/process/user_thread.h"
#include "os/schedule/wait_queue.h"

namespace ingot::os {

struct Kernel;

class Process {
 public:
  // With an empty address space and no thread.
  static Result<Owned<Process>> create(Kernel& kernel, std::uint64_t memory_limit);
  Process(Kernel& kernel, Owned<ProgramMemory> memory, Owned<ProcessFiles> files)
      : kernel_(kernel), files_(std::move(files)), memory_(std::move(memory)) {}
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  Kernel& kernel() { return kernel_; }
  ProgramMemory& memory() { return *memory_; }
  ProcessFiles& files() { return *files_; }
  std::uint32_t thread_count();
  AddressSpace& space() { return memory_->space(); }
  FutexTable& futexes() { return futexes_; }
  std::uint32_t number() const { return 1; }  // what getpid answers: there is one process

  // A thread that begins with the frame, not yet running: its caller may finish it before start().
  Result<UserThread*> add_thread(const arch::TrapFrame& frame, std::uint64_t thread_storage);
  void start(UserThread& thread);

  // The status of a program whose last thread ends without end(). Linux gives what that thread said.
  void remember_status(int status) {
    if (!is_ending()) status_.store(status, MemoryOrder::release);
  }
  // The end of all threads: those that wait go on, those that run are interrupted, and each ends before it would go on
  // in ring 3. The first status counts.
  void end(int status);
  bool is_ending() const { return ending_.load(MemoryOrder::relaxed); }
  // For the thread itself, which is never heard of again.
  [[noreturn]] void thread_ends(UserThread& thread);

  // Waits until the last thread has ended, and frees each. The exit status.
  int run();

 private:
  using ThreadList = IntrusiveList<UserThread, struct ProcessThreadsTag>;
  struct Threads {
    ThreadList living;
    ThreadList ended;
    std::uint32_t next_number = 1;
  };

  Kernel& kernel_;
  // Files go last: mappings show them.
  Owned<ProcessFiles> files_;
  Owned<ProgramMemory> memory_;
  FutexTable futexes_;
  Locked<Threads, SharedWith::interrupts> threads_{LockRank::process};
  WaitQueue thread_ended_;
  Atomic<bool> ending_;
  Atomic<int> status_;
};

}  // namespace ingot::os
