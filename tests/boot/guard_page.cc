// Whoever writes below a stack that is not his own meets its guard page, and the report says whose it is.
//
// boot-test: panic
// boot-test: expect the stack begins at
// boot-test: expect found the guard of the one that begins at
// boot-test: expect  run_payload + 0x
#include "os/boot/kernel.h"
#include "os/trace/panic.h"

namespace ingot::os {

void run_payload(Kernel& kernel) {
  const Result<KernelStack> stack = kernel.memory->allocate_stack(4 * page_bytes);
  if (!stack.ok()) panic(stack.error());
  kernel.log.information("the stack begins at ", stack.value().bottom());
  *reinterpret_cast<volatile char*>(stack.value().bottom().value() - 1) = 1;
  kernel.log.error("a guard page could be written");
}

}  // namespace ingot::os
