// Where the kernel goes: the loader puts it at one place, and an attacker who knows addresses should not know ours.
#pragma once

#include <cstdint>
#include <optional>

#include "os/boot/memory_map.h"

namespace ingot::os {

// How far to move `image`, which lies inside one 2 MiB page: a random multiple of 2 MiB, never 0, such that its bytes
// are usable memory below 4 GiB there. Nothing where there is no such place. `random` is uniform in 64 bits.
std::optional<std::uint64_t> choose_kernel_distance(const MemoryMap& memory, PhysicalRange image, std::uint64_t random);

// The window on all memory begins at a random entry of the root table, 512 GiB each; 128 are free for it, and further
// ones show the memory beyond. This says which one is first, so that as much as possible has room behind it.
inline constexpr std::uint64_t window_slot_bytes = 512 * giant_page_bytes, window_slot_count = 128;
std::uint64_t choose_window_slot(const MemoryMap& memory, std::uint64_t random);

}  // namespace ingot::os
