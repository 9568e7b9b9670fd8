// The last way to reset: an exception without a table to answer it.
//
// boot-test: reset
// boot-test: expect reset: by a triple fault
#include "os/boot/kernel.h"

namespace ingot::os {

void run_payload(Kernel& kernel) {
  kernel.log.information("reset: by a triple fault");
  arch::triple_fault();
}

}  // namespace ingot::os
