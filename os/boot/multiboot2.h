// The multiboot2 boot protocol: what GRUB speaks.
#pragma once

#include "base/result.h"
#include "os/boot/boot_info.h"
#include "os/boot/loader_memory.h"

namespace ingot::os {

// Reads the boot information into `boot_info`. Bounds-checked: nothing in loader memory is trusted.
Result<void> read_multiboot2_information(const LoaderMemory& memory, PhysicalAddress information, BootInfo& boot_info);

}  // namespace ingot::os
