// How much of the machine this process may use.
#pragma once

#include <vector>

#include "base/units.h"

namespace ingot {

int online_cpu_count();

// CPUs this thread may be scheduled on, ascending; empty when the system does not say.
std::vector<int> affinity_cpus();

// The least of online CPUs, the affinity mask and every cgroup CPU quota above us (rounded up); at least 1.
int usable_cpu_count();

// Physical memory, or the tightest cgroup memory limit where that is less; zero when the system does not say.
Bytes usable_memory();

}  // namespace ingot
