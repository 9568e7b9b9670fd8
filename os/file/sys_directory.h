// /sys: the CPUs, their caches and nodes as lscpu and programs that place threads read them.
#pragma once

#include "os/file/system_facts.h"
#include "os/file/text_file.h"

namespace ingot::os {

Answer<void> add_sys_files(MemoryDirectory& sys, SystemFacts& system);

}  // namespace ingot::os
