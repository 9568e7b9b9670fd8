// A thread that runs out of its stack is named; the stack was allocated, so its guard page was made by the kernel.
//
// boot-test: panic
// boot-test: expect panic: double fault: stack overflow, the guard page was hit at 0xffffc0000
// boot-test: expect by thread deep
// boot-test: expect  deeper + 0x
#include "os/boot/kernel.h"
#include "os/trace/panic.h"

namespace ingot::os {

#pragma GCC diagnostic ignored "-Winfinite-recursion"
[[gnu::noinline]] void deeper(std::uint64_t& depth) {
  volatile std::uint64_t here[8] = {++depth};
  deeper(depth);
  depth = here[0];
}

void run_payload(Kernel& kernel) {
  std::uint64_t depth = 0;
  Result<KernelThread> thread = spawn(kernel, "deep", deeper, depth);
  if (!thread.ok()) panic(thread.error());
  thread.value().join();
  kernel.log.error("recursion without end returned");
}

}  // namespace ingot::os
