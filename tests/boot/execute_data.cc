// Data is not executed: not the kernel's own, and first of all not what lies in the window.
//
// boot-test: panic
// boot-test: expect calling data
// boot-test: expect panic: page fault: execution of 0xffffffff
// boot-test: expect expected executable memory, found data
#include "os/boot/kernel.h"

namespace ingot::os {

namespace {
constinit unsigned char code[16] = {0xc3};  // a return instruction
}

void run_payload(Kernel& kernel) {
  kernel.log.information("calling data at ", VirtualAddress(reinterpret_cast<std::uint64_t>(code)));
  reinterpret_cast<void (*)()>(code)();
  kernel.log.error("data was executed");
}

}  // namespace ingot::os
