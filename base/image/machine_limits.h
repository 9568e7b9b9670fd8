// What a machine may have for the kernel to use all of it. `ingot cast` and `ingot boot` refuse more, because more
// would be paid for and lie idle; and from 256 processors on an emulator without KVM does not even start.
#pragma once

#include <cstddef>

namespace ingot {

inline constexpr std::size_t most_machine_cpus = 64;

}  // namespace ingot
