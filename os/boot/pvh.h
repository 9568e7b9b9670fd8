// The PVH boot protocol (Xen's x86/HVM direct boot ABI): what `qemu -kernel` and microVM monitors speak.
#pragma once

#include "base/result.h"
#include "os/boot/boot_info.h"
#include "os/boot/loader_memory.h"

namespace ingot::os {

// Reads the start-info structure into `boot_info`. Bounds-checked: nothing in loader memory is trusted.
Result<void> read_pvh_start_info(const LoaderMemory& memory, PhysicalAddress start_info, BootInfo& boot_info);

}  // namespace ingot::os
