// The grids of formats whose codes are points: of eight elements with three possible magnitudes, or of four with eight.
// A point is its elements as bytes, the first in the lowest.
#pragma once

#include <array>
#include <cstdint>

namespace ingot {

extern const std::array<std::uint64_t, 256> iq2_xxs_grid;  // of 8, 25 and 43
extern const std::array<std::uint64_t, 512> iq2_xs_grid;
extern const std::array<std::uint64_t, 1024> iq2_s_grid;
extern const std::array<std::uint64_t, 2048> iq1_grid;     // of -1, 0 and 1, times eight
extern const std::array<std::uint32_t, 256> iq3_xxs_grid;  // of 4, 12, 20, 28, 36, 44, 52 and 62
extern const std::array<std::uint32_t, 512> iq3_s_grid;    // of 1, 3 to 15

}  // namespace ingot
