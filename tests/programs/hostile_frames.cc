// Frames that no kernel made, handed to rt_sigreturn: the program may end, the kernel may not. Each is tried in a
// handler of its own, whose frame is spoilt before it returns; what faults then is told to the program by a signal.
// program-test: processors 2
// program-test: seconds 100
// program-test: expect survived
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <random>

#include "tests/programs/check.h"

namespace {

sigjmp_buf back;
char alternate[65536];
std::mt19937_64 random_numbers(4711);

void (*spoil)(ucontext_t& context);
volatile int returns = 0;

void handle(int signal, void (*handler)(int, siginfo_t*, void*), int flags) {
  struct sigaction action{};
  action.sa_sigaction = handler;
  action.sa_flags = flags | SA_SIGINFO;
  CHECK(sigaction(signal, &action, nullptr) == 0);
}

void attempt(void (*how)(ucontext_t& context)) {
  spoil = how;
  static const long process = getpid(), thread = gettid();
  if (sigsetjmp(back, 1) != 0) return;
  // Not raise: after the call no register may hold what it did.
  asm volatile("syscall" : : "a"(SYS_tgkill), "D"(process), "S"(thread), "d"(SIGUSR1) : "rcx", "r11", "memory");
  returns = returns + 1;
  siglongjmp(back, 1);
}

std::uint64_t nasty_number() {
  constexpr std::uint64_t numbers[] = {0,
                                       1,
                                       0x7fffffffffff,
                                       0x800000000000,
                                       0xffff800000000000,
                                       0xffffffff80000000,
                                       ~0ull,
                                       0x7ffffffff000,
                                       0x7fffffffeff8,
                                       0x1000};
  const std::uint64_t drawn = random_numbers();
  return drawn % 3 == 0 ? random_numbers() : numbers[drawn / 3 % std::size(numbers)] + drawn / 64 % 9;
}

}  // namespace

int main() {
  stack_t stack{};
  stack.ss_sp = alternate;
  stack.ss_size = sizeof alternate;
  CHECK(sigaltstack(&stack, nullptr) == 0);
  for (int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS}) {
    handle(signal, [](int, siginfo_t*, void*) { siglongjmp(back, 1); }, SA_ONSTACK | SA_NODEFER);
  }
  handle(SIGUSR1, [](int, siginfo_t*, void* context) { spoil(*static_cast<ucontext_t*>(context)); }, 0);

  attempt([](ucontext_t&) {});
  CHECK(returns == 1);  // nothing spoilt: it comes back
  // Rights that no program has: the ring, the selectors, interrupts, the level for ports.
  attempt([](ucontext_t& it) { it.uc_mcontext.gregs[REG_CSGSFS] = 0x0010'0000'0000'0008; });
  attempt([](ucontext_t& it) { it.uc_mcontext.gregs[REG_CSGSFS] = 0; });
  attempt([](ucontext_t& it) { it.uc_mcontext.gregs[REG_EFL] = 0x3bfeff; });
  CHECK(returns >= 2);  // selectors may be refused, or not looked at
  unsigned long flags = 0;
  asm volatile("pushfq; popq %0; cld" : "=r"(flags));
  CHECK((flags & 0x3000) == 0 && (flags & 0x4000) == 0 && (flags & 0x200) != 0);
  asm volatile("pushq $0x202; popfq" ::: "cc");  // the flag of alignment checks goes
  // Addresses that are none.
  for (const std::uint64_t address : {0x0000'8000'0000'0000ull, 0xffff'ffff'8000'0000ull, 0x7fff'ffff'ffffull, ~0ull}) {
    static std::uint64_t target;
    target = address;
    attempt([](ucontext_t& it) { it.uc_mcontext.gregs[REG_RIP] = static_cast<greg_t>(target); });
    attempt([](ucontext_t& it) { it.uc_mcontext.gregs[REG_RSP] = static_cast<greg_t>(target); });
    attempt([](ucontext_t& it) { it.uc_mcontext.fpregs = reinterpret_cast<fpregset_t>(target); });
  }
  attempt([](ucontext_t& it) { it.uc_mcontext.fpregs = nullptr; });
  // Vector registers that the CPU would refuse to load.
  attempt([](ucontext_t& it) { it.uc_mcontext.fpregs->mxcsr = ~0u; });
  const unsigned usual = 0x1f80;
  asm volatile("ldmxcsr %0" : : "m"(usual));
  attempt([](ucontext_t& it) { std::memset(reinterpret_cast<char*>(it.uc_mcontext.fpregs) + 512, 0xff, 64); });
  attempt([](ucontext_t& it) { std::memset(reinterpret_cast<char*>(it.uc_mcontext.fpregs) + 464, 0xff, 48); });
  asm volatile("ldmxcsr %0" : : "m"(usual));
  // A stack that is no frame at all.
  if (sigsetjmp(back, 1) == 0) {
    asm volatile("movq $64, %%rsp; movl $15, %%eax; syscall" ::: "rax", "memory");
  }
  // Anything, anywhere.
  for (int round = 0; round < 2000; ++round) {
    attempt([](ucontext_t& it) {
      auto* const words = reinterpret_cast<std::uint64_t*>(&it);
      constexpr std::size_t frame_words = 304 / 8;  // as the kernel lays it out
      for (std::uint64_t count = random_numbers() % 4 + 1; count > 0; --count) {
        const std::uint64_t index = random_numbers() % (frame_words + 8);
        // Without the other stack, or with faults blocked, nobody would hear of what follows.
        const bool is_needed = (index >= 2 && index <= 4) || index == frame_words - 1;
        if (index < frame_words) {
          if (!is_needed) words[index] = nasty_number();
        } else {
          auto* const state = reinterpret_cast<std::uint64_t*>(it.uc_mcontext.fpregs);
          if (state != nullptr && reinterpret_cast<std::uint64_t>(state) < 0x7fff'ffff'0000) {
            const bool is_whole = reinterpret_cast<char*>(state) > reinterpret_cast<char*>(words) &&
                                  reinterpret_cast<char*>(state) < reinterpret_cast<char*>(words) + 4096;
            if (is_whole) state[random_numbers() % 100] = nasty_number();
          }
        }
      }
      // The registers that the compiler needs after sigsetjmp come from its buffer; without single steps it goes on.
      it.uc_mcontext.gregs[REG_EFL] &= ~0x100;
    });
    asm volatile("cld; pushq $0x202; popfq; fninit; ldmxcsr %0" : : "m"(usual) : "cc");
    CHECK(sigaltstack(&stack, nullptr) == 0 || errno == EPERM);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
  }
  std::puts("survived");
  return 0;
}
