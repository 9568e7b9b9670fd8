// Where the kernel goes: the loader puts it at one place, and an attacker who knows addresses should not know ours.
#pragma once

#include <cstdint>
#include <optional>

#include "os/boot/memory_map.h"

namespace ingot::os {

// How far to move `image`, which lies inside one 2 MiB page: a random multiple of 2 MiB, never 0, such that its bytes
// are usable memory below 4 GiB there. Nothing where there is no such place. `random` is uniform in 64 bits.
std::optional<std::uint64_t> choose_kernel_distance(const MemoryMap& memory, PhysicalRange image, std::uint64_t random);

}  // namespace ingot::os
