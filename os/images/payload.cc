// What the shipped image does once the kernel stands.
#include "os/boot/kernel.h"

namespace ingot::os {

void run_payload(Kernel& kernel) { kernel.log.information("ingot: the kernel stands; it has no program to host yet"); }

}  // namespace ingot::os
