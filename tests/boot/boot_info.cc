// Whoever loaded the kernel, it knows the same: the matrix runs this by every loader.
//
// boot-test: success
// boot-test: machine q35
// boot-test: device VGA
// boot-test: device virtio-rng-pci
// boot-test: initramfs words of no consequence
// boot-test: expect boot info: initramfs "words of no consequence"
// boot-test: expect boot info: complete
#include <string_view>

#include "os/boot/kernel.h"
#include "os/trace/panic.h"

namespace ingot::os {

void run_payload(Kernel& kernel) {
  const BootInfo& info = kernel.boot_info;
  if (!info.acpi_root) panic("expected an ACPI root, found none");
  if (info.entropy == 0) panic("expected entropy, found 0");
  if (info.modules().size() != 1) panic("expected one module, found ", info.modules().size());
  const PhysicalRange module = info.modules()[0];
  const std::string_view text(kernel.platform.window().at<char>(module.begin), module.bytes);
  kernel.log.information("boot info: initramfs \"", text, "\"");
  // PVH knows of no framebuffer.
  if (info.framebuffer) {
    kernel.log.information("boot info: framebuffer of ", info.framebuffer->width, " x ", info.framebuffer->height);
  } else if (info.loader != LoaderProtocol::pvh) {
    panic("expected a framebuffer, found none");
  }
  kernel.log.information("boot info: complete");
}

}  // namespace ingot::os
