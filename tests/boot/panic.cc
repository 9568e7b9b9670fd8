// A panic names the functions that led to it and repeats the log.
//
// boot-test: panic
// boot-test: expect panic: expected 3 apples, found 2
// boot-test: expect in thread "main" on CPU 0
// boot-test: expect called by:
// boot-test: expect  inner + 0x
// boot-test: expect  outer + 0x
// boot-test: expect  run_payload + 0x
// boot-test: expect  run_main + 0x
// boot-test: expect   | a line before the end
#include "os/trace/panic.h"
#include "os/boot/kernel.h"

namespace ingot::os {

// Visible, never inlined, and with work behind the call: a frame for each.
[[gnu::noinline]] int inner(int apples) {
  if (apples != 3) panic("expected 3 apples, found ", apples);
  return apples;
}
[[gnu::noinline]] int outer(int apples) { return inner(apples) + 1; }

void run_payload(Kernel& kernel) {
  kernel.log.information("a line before the end");
  kernel.log.information("apples: ", outer(2));
}

}  // namespace ingot::os
