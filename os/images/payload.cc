// What the shipped image does once the kernel stands: it runs the program that was cast with it.
#include "base/image/grant_note.h"
#include "os/boot/kernel.h"
#include "os/process/grants.h"
#include "os/process/launch.h"
#include "os/process/log_device.h"

namespace ingot::os {

// What every kernel that runs programs can grant; subsystems announce their own.
alignas(GrantNote) [[gnu::used, gnu::section(".note.ingot")]] constinit const GrantNote announced[] = {
    GrantNote(writable_code_right), GrantNote(LogDevice::right)};

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
