// What an architecture does while the kernel starts and when it ends; arch.h holds what runs all the time.
//
//   namespace ingot::os::arch {
//   class Platform;            tables and devices that the architecture itself needs
//   }
#pragma once

#if __STDC_HOSTED__
#include "os/arch/hosted/platform.h"
#else
#include "os/arch/x86_64/platform.h"
#endif
