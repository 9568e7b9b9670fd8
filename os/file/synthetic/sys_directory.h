// /sys: the CPUs, their caches and nodes as lscpu and programs that place threads read them.
#pragma once

#include "os/file/synthetic/reports.h"
#include "os/file/synthetic/text_file.h"

namespace ingot::os {

Answer<void> add_sys_files(MemoryDirectory& sys, MachineReport& system);

}  // namespace ingot::os
