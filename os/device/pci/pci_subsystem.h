// The subsystem `pci`: the bus and what is found on it. Kernels that drive real devices list it before their drivers.
#pragma once

#include "os/boot/subsystem.h"

namespace ingot::os {

extern const Subsystem pci_subsystem;

// For a subsystem whose driver needs the bus of QEMU's microvm (`-machine microvm,pcie=on`), which no table names: it
// is looked for there, and the devices on it get places. Nothing where there is a bus already, or none. Precondition:
// it is such a machine.
Result<void> start_pci_on_microvm(Kernel& kernel);

}  // namespace ingot::os
