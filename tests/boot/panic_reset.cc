// A panic resets the machine where the command line asks for it.
//
// boot-test: reset
// boot-test: options panic=reset
// boot-test: expect panic: expected nothing, found the end
#include "os/boot/kernel.h"
#include "os/trace/panic.h"

namespace ingot::os {

void run_payload(Kernel&) { panic("expected nothing, found the end"); }

}  // namespace ingot::os
