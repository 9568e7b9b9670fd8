// The machine starts anew when it is told to.
//
// boot-test: reset
// boot-test: expect reset: now
#include "os/boot/kernel.h"

namespace ingot::os {

void run_payload(Kernel& kernel) {
  kernel.log.information("reset: now");
  kernel.power.restart(kernel.log);
}

}  // namespace ingot::os
