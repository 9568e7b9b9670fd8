// What a touch that cannot be answered says, by signal and code: nothing there, no right, a stack that ran over, a file
// that has ended.
//
// program-test: expect touch: as on Linux
// program-test: cast --tmpfs 1M
#include <sys/mman.h>
#include <unistd.h>

#include <csetjmp>
#include <csignal>

#include "tests/programs/report.h"

namespace {

sigjmp_buf place;
volatile int caught = 0, code = 0;

void note(int signal, siginfo_t* facts, void*) {
  caught = signal;
  code = facts->si_code;
  siglongjmp(place, 1);
}

template <class Touch>
bool causes(int signal, int expected_code, Touch touch) {
  caught = 0;
  code = 0;
  if (sigsetjmp(place, 1) == 0) touch();
  if (caught == signal && code == expected_code) return true;
  std::printf("found signal %d, code %d\n", caught, code);
  return false;
}

// Not a loop: each call needs a piece of the stack.
[[gnu::noinline]] int run_over(int depth) {
  volatile char room[4000];
  room[0] = static_cast<char>(depth);
  return depth == 0 ? 0 : run_over(depth + 1) + room[0];
}

}  // namespace

int main() {
  static char other_stack[64 << 10];
  stack_t stack = {};
  stack.ss_sp = other_stack;
  stack.ss_size = sizeof other_stack;
  CHECK(sigaltstack(&stack, nullptr) == 0);
  struct sigaction action = {};
  action.sa_sigaction = note;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  CHECK(sigaction(SIGSEGV, &action, nullptr) == 0 && sigaction(SIGBUS, &action, nullptr) == 0);

  auto* page = static_cast<volatile char*>(mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  CHECK(causes(SIGSEGV, SEGV_ACCERR, [&] { *page = 1; }));
  CHECK(munmap(const_cast<char*>(page), 4096) == 0);
  CHECK(causes(SIGSEGV, SEGV_MAPERR, [&] { *page = 1; }));
  const int file = memfd_create("short", 0);
  CHECK(file >= 0 && ftruncate(file, 100) == 0);
  auto* bytes = static_cast<volatile char*>(mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
  CHECK(bytes != MAP_FAILED);
  bytes[4095] = 1;
  CHECK(causes(SIGBUS, BUS_ADRERR, [&] { bytes[4096] = 1; }));
  // What is cut off goes from the mapping, too.
  CHECK(ftruncate(file, 0) == 0);
  CHECK(causes(SIGBUS, BUS_ADRERR, [&] { bytes[0] = 1; }));
  CHECK(causes(SIGSEGV, SEGV_MAPERR, [] { run_over(1); }));
  std::printf("touch: as on Linux\n");
}
