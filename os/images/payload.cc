// What the shipped image does once the kernel stands: it runs the program that was cast with it.
#include "os/boot/kernel.h"
#include "os/process/launch.h"

namespace ingot::os {

void run_payload(Kernel& kernel) {
  if (!kernel.boot_info.image()) {
    kernel.log.information("ingot: the kernel stands; no program was cast with it");
    return;
  }
  const Result<int> status = run_image(kernel);
  if (!status.ok()) kernel.log.error("program: ", status.error());
  kernel.exit_status = status.ok() ? status.value() : 127;
}

}  // namespace ingot::os
