// A stack that is too deep hits its guard page. The fault cannot be delivered on that stack, so the CPU raises a double
// fault, which has a stack of its own.
//
// boot-test: panic
// boot-test: expect panic: double fault: stack overflow, the guard page was hit at 0xffffc0000
// boot-test: expect  deeper + 0x
#include "os/boot/kernel.h"

namespace ingot::os {

#pragma GCC diagnostic ignored "-Winfinite-recursion"
[[gnu::noinline]] std::uint64_t deeper(std::uint64_t depth) {
  volatile std::uint64_t here[8] = {depth};
  return here[0] + deeper(depth + 1) + here[1];
}

void run_payload(Kernel& kernel) { kernel.log.error("recursion without end returned ", deeper(0)); }

}  // namespace ingot::os
