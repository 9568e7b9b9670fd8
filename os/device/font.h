// The letters of the framebuffer console: 8 by 16 pixels each, drawn in font.cc.
#pragma once

#include <array>
#include <cstdint>

namespace ingot::os {

inline constexpr std::uint32_t glyph_width = 8, glyph_height = 16;

// A byte a row from the top, its highest bit leftmost.
using Glyph = std::array<std::uint8_t, glyph_height>;

// Characters that are not printable ASCII look like '?'.
const Glyph& glyph_of(char character);

}  // namespace ingot::os
