// The start-up reaches the payload, and the log its sinks.
//
// boot-test: success
// boot-test: expect ingot: starting
// boot-test: expect hello from the kernel
// boot-test: expect ingot: done
#include "os/boot/kernel.h"

namespace ingot::os {

void run_payload(Kernel& kernel) { kernel.log.information("hello from the kernel"); }

}  // namespace ingot::os
