// What the bytes around a call on trial hold, on the host and on a device.
#pragma once

#include <cstddef>

namespace ingot {

inline constexpr std::size_t kept_alignment = 64;  // what kernels may treat apart: lines, and the widest vectors
inline constexpr std::byte tensor_surroundings{0x96};
inline constexpr std::byte scratch_filling{0xc3};

}  // namespace ingot
