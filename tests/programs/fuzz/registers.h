// For the fuzzer of system calls: calls after which an ordinary program could not go on, because they change its stack,
// its thread-local storage or its registers. Assembly, because between them and what mends it nothing may be touched.
#pragma once

#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <csignal>

namespace fuzz {

using Word = unsigned long;

struct ThreadWish {
  Word flags, stack, parent_place, child_place, storage;
};

// A thread that begins ends at once, and touches nothing of what it was given. No signal may come to it, whose handler
// would.
inline void begin_and_end_thread(const ThreadWish& wish) {
  sigset_t all, before;
  sigfillset(&all);
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, 8);
  Word answer = SYS_clone;
  register Word child_place asm("r10") = wish.child_place;
  register Word storage asm("r8") = wish.storage;
  asm volatile(
      "syscall\n\t"
      "testl %%eax, %%eax\n\t"
      "jnz 1f\n\t"
      "movl %[exit], %%eax\n\t"
      "xorl %%edi, %%edi\n\t"
      "syscall\n"
      "1:"
      : "+a"(answer)
      : "D"(wish.flags), "S"(wish.stack), "d"(wish.parent_place), "r"(child_place), "r"(storage), [exit] "i"(SYS_exit)
      : "rcx", "r11", "memory");
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, nullptr, 8);
}

// This base for the thread's storage, and its own again.
inline void change_storage(Word base) {
  constexpr Word set_fs = 0x1002;
  Word own = 0, answer = SYS_arch_prctl, argument = base;
  asm volatile("movq %%fs:0, %0" : "=r"(own));  // the C library keeps it there
  asm volatile(
      "syscall\n\t"
      "movl %[call], %%eax\n\t"
      "movq %[own], %%rsi\n\t"
      "syscall"
      : "+a"(answer), "+S"(argument)
      : "D"(set_fs), [own] "r"(own), [call] "i"(SYS_arch_prctl)
      : "rcx", "r11", "memory");
}

// A signal to this thread whose handler may spoil its frame: the vector state, the flags and the selectors, all of
// which this call gives up.
inline void return_from_handler_of(int signal, pid_t thread) {
  sigset_t wanted;
  sigemptyset(&wanted);
  sigaddset(&wanted, signal);
  syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &wanted, nullptr, 8);
  const unsigned usual_control = 0x1f80;
  const Word process = static_cast<Word>(getpid());
  Word answer = SYS_tgkill;
  asm volatile(
      "syscall; fninit; ldmxcsr %[control]"
      : "+a"(answer)
      : "D"(process), "S"(static_cast<Word>(thread)), "d"(static_cast<Word>(signal)), [control] "m"(usual_control)
      : "rcx", "r11", "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
        "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
}

}  // namespace fuzz
