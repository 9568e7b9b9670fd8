// What launches may ask of any GPU that this program runs on.
#pragma once

#include <cstdint>

namespace ingot {

// Bytes of dynamic shared memory of a block. Chips of 8.0 give it 163 KiB, with what its function declares; those of
// graphics cards give 99 KiB, and are refused.
inline constexpr std::uint32_t most_launch_shared_bytes = 160 << 10;

}  // namespace ingot
