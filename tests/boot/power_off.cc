// The end of the payload switches the machine off.
//
// boot-test: poweroff
// boot-test: expect ingot: done
#include "os/boot/kernel.h"

namespace ingot::os {

void run_payload(Kernel&) {}

}  // namespace ingot::os
