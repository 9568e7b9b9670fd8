// A 64-bit checksum that finds damage, not forgery. Every changed word changes it for certain as long as it is the only
// one, any other damage but for one chance in 2^64.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace ingot {

std::uint64_t checksum_of(std::span<const std::byte> bytes);

}  // namespace ingot
