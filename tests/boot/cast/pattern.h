// What the maker of the image and the kernel that boots from it both know: the bytes of its large files.
#pragma once

#include <cstdint>

namespace ingot {

inline constexpr std::uint64_t model_bytes = (3 << 20) + 17, other_bytes = 2 << 20;

// Differs from byte to byte and from page to page, so that no part can lie at another's place.
constexpr std::uint8_t pattern_byte(std::uint64_t file, std::uint64_t offset) {
  return static_cast<std::uint8_t>((offset + (offset >> 12) * 7 + file * 101) * 0x9e3779b1u >> 13);
}

}  // namespace ingot
