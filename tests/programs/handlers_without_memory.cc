// Handlers run and return where the kernel has no memory left: a program gets a signal because it is in need, and must
// not end for it.
// program-test: options fail-allocations=50
// program-test: expect 1000 handlers came back
#include <ucontext.h>

#include <cstdio>

#include "tests/programs/signal_handlers.h"

int main() {
  handle_with_information(SIGILL, [](int, siginfo_t*, void* context) {
    constexpr int instruction_bytes = 2;  // of UD2
    static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP] += instruction_bytes;
    seen = seen + 1;
  });
  constexpr int rounds = 1000;
  for (int i = 0; i < rounds; ++i) asm volatile("ud2");
  CHECK(seen == rounds);
  std::printf("%d handlers came back\n", rounds);
  return 0;
}
