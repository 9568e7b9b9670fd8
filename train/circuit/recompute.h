// What a training step keeps from its forward pass for its backward one, and what it computes a second time instead.
// Results are the same to the last bit.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace ingot {

enum class Recompute : std::uint8_t {
  nothing,  // keeps whatever is read again
  cheap,    // computes again what one walk over memory makes of what is kept: norms, curves, products, rotations
  layers,   // keeps of a layer only what enters it: the least memory, for about a third more work
};

// In the enumeration's order.
inline constexpr std::array<std::string_view, 3> recompute_names = {"nothing", "cheap", "layers"};

}  // namespace ingot
