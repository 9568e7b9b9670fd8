// A call through a null pointer is told as what it is, with its caller.
//
// boot-test: panic
// boot-test: expect panic: page fault: execution of 0x0, expected an object, found a null pointer
// boot-test: expect  run_payload + 0x
#include "os/boot/kernel.h"

namespace ingot::os {

void run_payload(Kernel& kernel) {
  void (*volatile function)() = nullptr;
  function();
  kernel.log.error("a null pointer was called and returned");
}

}  // namespace ingot::os
