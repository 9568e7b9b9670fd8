// The subsystem `pci`: the bus and what is found on it. Kernels that drive real devices list it before their drivers.
#pragma once

#include "os/boot/subsystem.h"

namespace ingot::os {

extern const Subsystem pci_subsystem;

}  // namespace ingot::os
