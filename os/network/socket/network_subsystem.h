// The subsystem `network`: packets for programs that are granted it. Kernels list it behind the drivers of cards.
#pragma once

#include "os/boot/subsystem.h"

namespace ingot::os {

extern const Subsystem network_subsystem;

}  // namespace ingot::os
