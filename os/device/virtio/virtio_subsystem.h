// The subsystem `virtio`: finds the devices of virtual machines, on PCI and as windows in memory, and starts their
// drivers. Where there are none it says nothing. Kernels list it behind `pci`.
#pragma once

#include "os/boot/subsystem.h"

namespace ingot::os {

extern const Subsystem virtio_subsystem;

}  // namespace ingot::os
