// UserThread: a thread that runs a program in ring 3, and comes to the kernel's side of itself for system calls,
// interrupts and faults.
#pragma once

#include <cstdint>
#include <optional>

#include "base/intrusive_list.h"
#include "base/result.h"
#include "os/memory/kernel_stack.h"
#include "os/schedule/lock_checker.h"
#include "os/schedule/thread.h"
#include "os/syscall/user_pointer.h"

namespace ingot::os {

class Process;

class UserThread : public ListLink<struct ProcessThreadsTag> {
 public:
  // The first instruction of the thread is the frame's.
  UserThread(Process& process, std::uint32_t number, KernelStack stack, arch::VectorState vectors,
             const arch::TrapFrame& frame, std::uint64_t thread_storage);

  Process& process() { return process_; }
  std::uint32_t number() const { return number_; }  // what gettid answers
  Thread& thread() { return thread_; }
  arch::UserState& state() { return state_; }

  // A wait in a system call is to end: the process ends.
  bool is_interrupted() const;
  // For the thread itself: tells whoever waits for it in the program, and ends.
  [[noreturn]] void exit();

  // Where exit() writes 0 and wakes a futex: how pthread_join learns of the end.
  UserPointer<std::uint32_t> clear_at_exit{};
  // The locks it holds, as a list in its memory: at its end they are marked, so that others do not wait forever.
  VirtualAddress robust_list;

 private:
  [[noreturn]] static void enter(void* argument);

  Process& process_;
  std::uint32_t number_;
  KernelStack stack_;
  arch::VectorState vectors_;
  arch::UserState state_;
  arch::TrapFrame first_frame_;
  std::optional<LockChecker> lock_checker_;
  Thread thread_;
};

}  // namespace ingot::os
