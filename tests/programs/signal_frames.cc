// What a handler finds on its stack: the fault that called it, registers it may change, a stack of its own.
// program-test: processors 2
// program-test: cast --tmpfs 1M
// program-test: expect all frames were right
#include <setjmp.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <initializer_list>

#include "tests/programs/signal_handlers.h"

namespace {

siginfo_t last{};

sigjmp_buf back;
void jump_back(int signal, siginfo_t* information, void*) {
  last = *information;
  siglongjmp(back, signal);
}

[[gnu::noinline]] int divide(int left, volatile int* right) { return left / *right; }

void faults_reach_handlers() {
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP}) handle_with_information(signal, jump_back);
  auto* const page = static_cast<char*>(mmap(nullptr, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  CHECK(page != MAP_FAILED);
  if (sigsetjmp(back, 1) == 0) {
    *static_cast<volatile char*>(page + 5) = 1;
    CHECK(false);
  }
  CHECK(last.si_signo == SIGSEGV && last.si_code == SEGV_ACCERR && last.si_addr == page + 5);
  if (sigsetjmp(back, 1) == 0) {
    *reinterpret_cast<volatile char*>(0x1234) = 1;
    CHECK(false);
  }
  CHECK(last.si_signo == SIGSEGV && last.si_code == SEGV_MAPERR && last.si_addr == reinterpret_cast<void*>(0x1234));
  if (sigsetjmp(back, 1) == 0) {
    *reinterpret_cast<volatile char*>(0x8000'0000'0000'0000) = 1;  // no address at all
    CHECK(false);
  }
  CHECK(last.si_signo == SIGSEGV && last.si_code == SI_KERNEL);
  volatile int zero = 0;
  if (sigsetjmp(back, 1) == 0) {
    volatile int result = divide(100, &zero);
    CHECK(result == 0);
    CHECK(false);
  }
  CHECK(last.si_signo == SIGFPE && last.si_code == FPE_INTDIV);
  if (sigsetjmp(back, 1) == 0) {
    // By the x87: an emulator may not watch SSE.
    const unsigned short unmasked = 0x37f & ~(1u << 2);  // division by zero
    asm volatile("fldcw %0; fld1; fldz; fdivrp; fwait" : : "m"(unmasked));
    CHECK(false);
  }
  CHECK(last.si_signo == SIGFPE && last.si_code == FPE_FLTDIV);
  if (sigsetjmp(back, 1) == 0) asm volatile("ud2");
  CHECK(last.si_signo == SIGILL && last.si_code == ILL_ILLOPN);
  if (sigsetjmp(back, 1) == 0) asm volatile("int3");
  CHECK(last.si_signo == SIGTRAP);
  const int file = memfd_create("short", 0);
  CHECK(file >= 0 && ftruncate(file, 10) == 0);
  auto* const mapped = static_cast<char*>(mmap(nullptr, 8192, PROT_READ, MAP_SHARED, file, 0));
  CHECK(mapped != MAP_FAILED);
  if (sigsetjmp(back, 1) == 0) {
    CHECK(*static_cast<volatile char*>(mapped + 5000) == 0);
    CHECK(false);
  }
  CHECK(last.si_signo == SIGBUS && last.si_code == BUS_ADRERR && last.si_addr == mapped + 5000);
  close(file);
  // A handler that mends what was wrong: the instruction runs again.
  handle_with_information(SIGSEGV, [](int, siginfo_t* information, void*) {
    const auto address = reinterpret_cast<std::uintptr_t>(information->si_addr) & ~std::uintptr_t{4095};
    CHECK(mprotect(reinterpret_cast<void*>(address), 4096, PROT_READ | PROT_WRITE) == 0);
  });
  *static_cast<volatile char*>(page + 4100) = 7;
  CHECK(page[4100] == 7);
}

// Registers survive a handler that uses them, and a handler can change what its program goes on with.
void registers_in_the_frame() {
  handle_with_information(SIGUSR1, [](int, siginfo_t*, void* context) {
    volatile double noise = 3;
    for (int i = 0; i < 100; ++i) noise = std::sqrt(noise + i);
    asm volatile("vpcmpeqd %%ymm0, %%ymm0, %%ymm0; vmovdqa %%ymm0, %%ymm15" : : : "xmm0", "xmm15");
    const unsigned other_rounding = 0x1f80 | 3u << 13;
    asm volatile("ldmxcsr %0" : : "m"(other_rounding));
    auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext;
    CHECK(registers.fpregs != nullptr && registers.fpregs->mxcsr == (0x1f80u | 1u << 13));
    registers.gregs[REG_RBX] = 4711;
  });
  const unsigned rounding = 0x1f80 | 1u << 13, usual = 0x1f80;
  unsigned found = 0;
  alignas(32) const long long wanted[4] = {1, 2, 3, 4};
  alignas(32) long long kept[4] = {};
  long changed = 0;
  const long process = getpid();
  asm volatile(
      "ldmxcsr %[rounding]\n\t"
      "vmovdqa %[wanted], %%ymm15\n\t"
      "movq $1, %%rbx\n\t"
      "movl $62, %%eax\n\t"  // kill: this process
      "movq %[process], %%rdi\n\t"
      "movl $10, %%esi\n\t"
      "syscall\n\t"
      "movq %%rbx, %[changed]\n\t"
      "vmovdqa %%ymm15, %[kept]\n\t"
      "stmxcsr %[found]\n\t"
      "ldmxcsr %[usual]\n\t"
      : [changed] "=&r"(changed), [kept] "=m"(kept), [found] "=m"(found)
      : [rounding] "m"(rounding), [wanted] "m"(wanted), [process] "r"(process), [usual] "m"(usual)
      : "rax", "rbx", "rcx", "rdi", "rsi", "r11", "xmm15", "memory");
  CHECK(changed == 4711 && found == rounding && std::memcmp(kept, wanted, sizeof kept) == 0);
}

char alternate[65536];
volatile int depth = 0;
[[gnu::noinline]] int overflow_stack(int level) {
  volatile char room[4096];
  room[0] = static_cast<char>(level);
  depth = level;
  return level < 1'000'000 ? overflow_stack(level + 1) + room[0] : 0;
}

void alternate_stacks() {
  stack_t stack{}, before{};
  stack.ss_sp = alternate;
  stack.ss_size = sizeof alternate;
  CHECK(sigaltstack(&stack, &before) == 0 && before.ss_flags == SS_DISABLE);
  handle_with_information(
      SIGUSR1,
      [](int, siginfo_t*, void*) {
        char here = 0;
        CHECK(&here > alternate && &here < alternate + sizeof alternate);
        stack_t inside{};
        CHECK(sigaltstack(nullptr, &inside) == 0 && inside.ss_flags == SS_ONSTACK);
        CHECK(sigaltstack(&inside, nullptr) == -1 && errno == EPERM);
        if (depth == 0) {
          depth = 1;
          CHECK(raise(SIGUSR1) == 0);  // nested, on the same stack
        }
        seen = seen + 1;
      },
      SA_ONSTACK | SA_NODEFER);
  seen = 0;
  depth = 0;
  CHECK(raise(SIGUSR1) == 0 && seen == 2);
  handle_with_information(SIGSEGV, jump_back, SA_ONSTACK);
  if (sigsetjmp(back, 1) == 0) overflow_stack(0);
  CHECK(last.si_signo == SIGSEGV && depth > 1000);
  stack.ss_flags = SS_DISABLE;
  CHECK(sigaltstack(&stack, &before) == 0 && before.ss_sp == alternate);
  stack.ss_flags = 0;
  stack.ss_size = 100;
  CHECK(sigaltstack(&stack, nullptr) == -1 && errno == ENOMEM);
}

}  // namespace

int main() {
  faults_reach_handlers();
  registers_in_the_frame();
  alternate_stacks();
  std::puts("all frames were right");
  return 0;
}
