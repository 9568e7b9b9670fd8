// Code cannot be changed where it runs.
//
// boot-test: panic
// boot-test: expect panic: page fault: write to 0xffffffff
// boot-test: expect expected writable memory, found a read-only page
// boot-test: expect  run_payload + 0x
#include "os/boot/kernel.h"

namespace ingot::os {

void run_payload(Kernel& kernel) {
  *reinterpret_cast<volatile char*>(&run_payload) = 0;
  kernel.log.error("the kernel's code was writable");
}

}  // namespace ingot::os
