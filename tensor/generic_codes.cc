#include "tensor/generic_codes.h"

#include <bit>
#include <cstring>

#include "tensor/generic_formats.h"
#include "tensor/grids.h"

namespace ingot {
namespace {

constexpr std::uint64_t every_byte = 0x0101010101010101u;

// Eight bytes, each all ones where its bit is set: the multiplication gives every byte all bits, of which it keeps its
// own; adding 127 carries that to the top.
constexpr std::uint64_t spread_signs(unsigned bits) {
  const std::uint64_t own = bits * every_byte & 0x8040201008040201u;
  return ((own + 0x7f7f7f7f7f7f7f7fu) >> 7 & every_byte) * 0xff;
}

// Magnitudes, negative where the bit is set. None is zero, so that adding one to a complement carries nowhere.
constexpr std::uint64_t with_signs(std::uint64_t magnitudes, unsigned bits) {
  const std::uint64_t signs = spread_signs(bits);
  return (magnitudes ^ signs) + (signs & every_byte);
}

// The eighth sign makes their number even.
constexpr unsigned all_eight(unsigned seven) { return seven | (static_cast<unsigned>(std::popcount(seven)) & 1) << 7; }

void store_eight(std::uint64_t bytes, std::int8_t* codes) {
  for (int i = 0; i < 8; ++i) codes[i] = static_cast<std::int8_t>(bytes >> 8 * i);
}

unsigned sixteen_bits(const std::uint8_t* from) { return from[0] | unsigned{from[1]} << 8; }
std::uint32_t word_of(const std::uint8_t* from) { return sixteen_bits(from) | sixteen_bits(from + 2) << 16; }

void set_scale(BlockCodes& out, int first, int count, float scale) {
  for (int sixteen = first; sixteen < first + count; ++sixteen) out.scales[sixteen] = scale;
}

// scale (2 s + 1) of each sixteen, s in halves of bytes.
void set_nibble_scales(const std::uint8_t (&scales)[8], float scale, BlockCodes& out) {
  for (int i = 0; i < 16; ++i) out.scales[i] = scale * static_cast<float>(2 * (scales[i / 2] >> 4 * (i % 2) & 15) + 1);
}

void unpack(const BlockIQ2_XXS& block, BlockCodes& out) {
  const float scale = block.scale.value() * 0.125f;
  for (int g = 0; g < 8; ++g) {
    const std::uint32_t rest = word_of(block.groups[g] + 4);
    for (int i = 0; i < 4; ++i) {
      const std::uint64_t point = iq2_xxs_grid[block.groups[g][i]];
      store_eight(with_signs(point, all_eight(rest >> 7 * i & 127)), out.codes + 32 * g + 8 * i);
    }
    set_scale(out, 2 * g, 2, scale * static_cast<float>(2 * (rest >> 28) + 1));
  }
}

void unpack(const BlockIQ2_XS& block, BlockCodes& out) {
  for (int e = 0; e < 32; ++e) {
    const unsigned bits = sixteen_bits(block.eights[e]);
    store_eight(with_signs(iq2_xs_grid[bits & 511], all_eight(bits >> 9)), out.codes + 8 * e);
  }
  set_nibble_scales(block.scales, block.scale.value() * 0.125f, out);
}

void unpack(const BlockIQ2_S& block, BlockCodes& out) {
  for (int e = 0; e < 32; ++e) {
    const unsigned point = block.points[e] | (block.high[e / 4] >> 2 * (e % 4) & 3u) << 8;
    store_eight(with_signs(iq2_s_grid[point], block.signs[e]), out.codes + 8 * e);
  }
  set_nibble_scales(block.scales, block.scale.value() * 0.125f, out);
}

// Two points of four elements.
constexpr std::uint64_t joined(std::uint32_t first, std::uint32_t second) {
  return first | std::uint64_t{second} << 32;
}

void unpack(const BlockIQ3_XXS& block, BlockCodes& out) {
  const float scale = block.scale.value() * 0.25f;
  for (int g = 0; g < 8; ++g) {
    const std::uint32_t rest = word_of(block.groups[g]);
    for (int i = 0; i < 4; ++i) {
      const std::uint8_t* points = block.points + 8 * g + 2 * i;
      store_eight(with_signs(joined(iq3_xxs_grid[points[0]], iq3_xxs_grid[points[1]]), all_eight(rest >> 7 * i & 127)),
                  out.codes + 32 * g + 8 * i);
    }
    set_scale(out, 2 * g, 2, scale * static_cast<float>(2 * (rest >> 28) + 1));
  }
}

void unpack(const BlockIQ3_S& block, BlockCodes& out) {
  for (int e = 0; e < 32; ++e) {
    const unsigned high = block.high[e / 4] >> 2 * (e % 4);
    const std::uint32_t first = iq3_s_grid[block.points[2 * e] | (high & 1) << 8];
    const std::uint32_t second = iq3_s_grid[block.points[2 * e + 1] | (high >> 1 & 1) << 8];
    store_eight(with_signs(joined(first, second), block.signs[e]), out.codes + 8 * e);
  }
  const float scale = block.scale.value();
  for (int g = 0; g < 8; ++g) {
    set_scale(out, 2 * g, 2, scale * static_cast<float>(2 * (block.scales[g / 2] >> 4 * (g % 2) & 15) + 1));
  }
}

// Eight times a point and its shift of an eighth: integers from -9 to 9.
void store_shifted(std::uint64_t point, bool is_down, std::int8_t* codes) {
  for (int i = 0; i < 8; ++i) {
    codes[i] = static_cast<std::int8_t>(static_cast<std::int8_t>(point >> 8 * i) + (is_down ? -1 : 1));
  }
}

void unpack(const BlockIQ1_S& block, BlockCodes& out) {
  const float scale = block.scale.value() * 0.125f;
  for (int g = 0; g < 8; ++g) {
    const unsigned high = sixteen_bits(block.high[g]);
    for (int i = 0; i < 4; ++i) {
      const unsigned point = block.points[4 * g + i] | (high >> 3 * i & 7) << 8;
      store_shifted(iq1_grid[point], (high & 0x8000) != 0, out.codes + 32 * g + 8 * i);
    }
    set_scale(out, 2 * g, 2, scale * static_cast<float>(2 * (high >> 12 & 7) + 1));
  }
}

void unpack(const BlockIQ1_M& block, BlockCodes& out) {
  unsigned half = 0;
  for (int i = 0; i < 4; ++i) half |= sixteen_bits(block.scales[i]) >> 12 << 4 * i;
  const float scale = float_from_half_bits(static_cast<std::uint16_t>(half)) * 0.125f;
  for (int e = 0; e < 32; ++e) {
    const unsigned high = block.high[e / 2] >> 4 * (e % 2);
    store_shifted(iq1_grid[block.points[e] | (high & 7) << 8], (high & 8) != 0, out.codes + 8 * e);
  }
  for (int i = 0; i < 16; ++i) {
    out.scales[i] = scale * static_cast<float>(2 * (sixteen_bits(block.scales[i / 4]) >> 3 * (i % 4) & 7) + 1);
  }
}

void unpack(const BlockTQ2_0& block, BlockCodes& out) {
  for (int i = 0; i < 256; ++i) {
    out.codes[i] = static_cast<std::int8_t>((block.low[i / 128 * 32 + i % 32] >> i % 128 / 32 * 2 & 3) - 1);
  }
  set_scale(out, 0, 16, block.scale.value());
}

// Digits of `bytes`, first the highest of each: what three times the fraction has before the point.
template <int digits, int count>
void unpack_digits(const std::uint8_t* bytes, std::int8_t* codes) {
  unsigned power = 1;
  for (int digit = 0; digit < digits; ++digit, power *= 3) {
    for (int j = 0; j < count; ++j) {
      const unsigned fraction = bytes[j] * power & 255;
      codes[digit * count + j] = static_cast<std::int8_t>(static_cast<int>(fraction * 3 >> 8) - 1);
    }
  }
}

void unpack(const BlockTQ1_0& block, BlockCodes& out) {
  unpack_digits<5, 32>(block.fives, out.codes);
  unpack_digits<5, 16>(block.fives + 32, out.codes + 160);
  unpack_digits<4, 4>(block.fours, out.codes + 240);
  set_scale(out, 0, 16, block.scale.value());
}

void unpack(const BlockNVFP4& block, BlockCodes& out) {
  for (int g = 0; g < 4; ++g) {
    for (int j = 0; j < 8; ++j) {
      out.codes[16 * g + j] = mxfp4_values[block.low[g][j] & 15];
      out.codes[16 * g + 8 + j] = mxfp4_values[block.low[g][j] >> 4];
    }
    out.scales[g] = e4m3_scale(block.scales[g]);
  }
}

}  // namespace

void unpack_generic_block(DType dtype, const std::byte* block, BlockCodes& codes) {
  std::memset(codes.minimums, 0, sizeof(codes.minimums));
  with_generic_type(dtype, [&]<class Block>() { unpack(*reinterpret_cast<const Block*>(block), codes); });
}

}  // namespace ingot
