// The CPU's caches, from sysfs or, where there is none, from CPUID.
#pragma once

#include <string>
#include <vector>

#include "machine/machine.h"

namespace ingot {

// The caches described under a sysfs folder such as /sys/devices/system/cpu/cpu0/cache; empty when there are none.
std::vector<Cache> caches_from_sysfs(const std::string& folder);

// One cache from a deterministic-parameters subleaf (CPUID leaf 4 on Intel, 0x8000001D on AMD); level 0 marks none.
Cache cache_from_cpuid(std::uint32_t eax, std::uint32_t ebx, std::uint32_t ecx);

// By level, data before instruction.
std::vector<Cache> detect_caches();

}  // namespace ingot
