// A fault whose gate cannot be used becomes a double fault, told as such: no reset without a word.
//
// boot-test: panic
// boot-test: expect panic: double fault: error code 0x0
// boot-test: expect  run_payload + 0x
#include "os/boot/kernel.h"

namespace ingot::os {

void run_payload(Kernel& kernel) {
  // Assembly: a stack pointer that is no address makes the breakpoint's frame impossible to push.
  asm volatile(
      "movabsq $0x8000000000000000, %%rsp\n\t"
      "int3"
      :
      :
      : "memory");
  kernel.log.error("a stack that does not exist was used");
}

}  // namespace ingot::os
