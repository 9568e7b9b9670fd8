// The subsystem `accelerator`: finds the host's accelerator, a device of shared memory on PCI, and offers it to a
// program that is granted it as /dev/accelerator. Where nobody is granted it, nothing is looked for. Kernels list it
// behind `pci`.
#pragma once

#include "os/boot/subsystem.h"

namespace ingot::os {

extern const Subsystem accelerator_subsystem;

}  // namespace ingot::os
