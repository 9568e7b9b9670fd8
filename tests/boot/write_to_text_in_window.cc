// Code cannot be changed through the window on physical memory either.
//
// boot-test: panic
// boot-test: expect panic: page fault: write to 0xffff
// boot-test: expect expected writable memory, found a read-only page
#include "os/boot/kernel.h"

namespace ingot::os {

void run_payload(Kernel& kernel) {
  const VirtualAddress code(reinterpret_cast<std::uint64_t>(&run_payload));
  const PhysicalAddress physical = kernel.platform.physical_kernel_base() + (code - kernel.platform.kernel_base());
  *kernel.platform.window().at<volatile char>(physical) = 0;
  kernel.log.error("the kernel's code was writable through the window");
}

}  // namespace ingot::os
