// The window on physical memory is not executable, even where it shows code.
//
// boot-test: panic
// boot-test: expect panic: page fault: execution of 0xffff
// boot-test: expect expected executable memory, found data
#include "os/boot/kernel.h"

namespace ingot::os {

namespace {
[[gnu::noinline]] void harmless() { asm volatile(""); }  // assembly: keeps the call and does nothing
}  // namespace

void run_payload(Kernel& kernel) {
  const VirtualAddress code(reinterpret_cast<std::uint64_t>(&harmless));
  harmless();
  const PhysicalAddress physical = kernel.platform.physical_kernel_base() + (code - kernel.platform.kernel_base());
  reinterpret_cast<void (*)()>(kernel.platform.window().at<void>(physical))();
  kernel.log.error("the window was executed");
}

}  // namespace ingot::os
