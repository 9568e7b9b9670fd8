// Blocks of every format (tensor/block_formats.h) as a device reads them: four neighbouring elements at a time, which
// in every format lie in four neighbouring bytes.
//
//   element i = scale * code - minimum, in float, each operation rounded, which is what the formats define
//
//   codes_at(block, i)   the codes of elements i to i + 3 as bytes with a sign, the first in the lowest; i % 4 = 0
//   scale_at(block, i)   the scale and minimum of the sixteen elements that i is one of
//
// A block may lie at any address. It is read by the widest loads that its address allows: whole blocks of a tensor that
// begins at a multiple of four are read alike, so that lanes of a warp go the same way.
#pragma once

#include "kernels/device/memory.h"
#include "kernels/device/numbers.h"
#include "tensor/block_formats.h"

namespace ingot::device {

inline constexpr unsigned quad_codes = 4;

// The four bytes from a place within a block on.
template <class Block>
INGOT_ON_DEVICE std::uint32_t load_quad(const void* from) {
  const auto address = reinterpret_cast<std::uintptr_t>(from);
  if constexpr (sizeof(Block) % 4 == 0) {
    if (address % 4 == 0) return load_constant(static_cast<const std::uint32_t*>(from));
  }
  if constexpr (sizeof(Block) % 2 == 0) {
    if (address % 2 == 0) {
      const auto* halves = static_cast<const std::uint16_t*>(from);
      return load_constant(halves) | std::uint32_t{load_constant(halves + 1)} << 16;
    }
  }
  const auto* bytes = static_cast<const std::uint8_t*>(from);
  std::uint32_t quad = 0;
  INGOT_UNROLL
  for (unsigned i = 0; i < quad_codes; ++i) quad |= std::uint32_t{load_constant(bytes + i)} << 8 * i;
  return quad;
}

INGOT_ON_DEVICE float load_half(const StoredHalf& half) {
  const auto address = reinterpret_cast<std::uintptr_t>(half.bytes);
  if (address % 2 == 0)
    return to_float(half_of_bits(load_constant(reinterpret_cast<const std::uint16_t*>(half.bytes))));
  return to_float(half_of_bits(load_constant(half.bytes) | std::uint32_t{load_constant(half.bytes + 1)} << 8));
}

// Four bytes below 128, less a number of at most 128 each.
INGOT_ON_DEVICE std::uint32_t less_in_bytes(std::uint32_t bytes, std::uint32_t number) {
  return ((bytes | 0x80808080u) - 0x01010101u * number) ^ 0x80808080u;
}
// Four bits, the lowest first, as the lowest bits of four bytes.
INGOT_ON_DEVICE std::uint32_t spread_bits(std::uint32_t bits) { return (bits & 15) * 0x00204081u & 0x01010101u; }

// Code i of four, as a number.
INGOT_ON_DEVICE float code_of_quad(std::uint32_t quad, unsigned i) {
  return static_cast<float>(static_cast<std::int8_t>(quad >> 8 * i));
}

// A table of sixteen bytes in two words, because the host's tables are nowhere on a device.
struct PackedTable {
  std::uint64_t first, second;
};
constexpr PackedTable pack_table(const std::int8_t (&values)[16]) {
  PackedTable packed = {0, 0};
  for (int i = 0; i < 8; ++i) {
    packed.first |= std::uint64_t{static_cast<std::uint8_t>(values[i])} << 8 * i;
    packed.second |= std::uint64_t{static_cast<std::uint8_t>(values[8 + i])} << 8 * i;
  }
  return packed;
}
INGOT_ON_DEVICE std::uint32_t look_up_quad(PackedTable table, std::uint32_t quad) {
  std::uint32_t result = 0;
  INGOT_UNROLL
  for (unsigned i = 0; i < quad_codes; ++i) {
    const std::uint32_t code = quad >> 8 * i & 15;
    const std::uint64_t half = code < 8 ? table.first : table.second;
    result |= static_cast<std::uint32_t>(half >> 8 * (code % 8) & 255) << 8 * i;
  }
  return result;
}

// Formats of 32: the low four bits of element j and of element j + 16 in byte j.
template <class Block>
INGOT_ON_DEVICE std::uint32_t low_of_32(const Block& block, unsigned at) {
  return load_quad<Block>(block.low + at % 16) >> (at < 16 ? 0 : 4) & 0x0f0f0f0fu;
}
template <class Block>
INGOT_ON_DEVICE std::uint32_t low_and_fifth_of_32(const Block& block, unsigned at) {
  return low_of_32(block, at) | spread_bits(load_quad<Block>(block.high) >> at) << 4;
}

INGOT_ON_DEVICE std::uint32_t codes_at(const BlockQ4_0& block, unsigned at) {
  return less_in_bytes(low_of_32(block, at), 8);
}
INGOT_ON_DEVICE std::uint32_t codes_at(const BlockQ4_1& block, unsigned at) { return low_of_32(block, at); }
INGOT_ON_DEVICE std::uint32_t codes_at(const BlockQ5_0& block, unsigned at) {
  return less_in_bytes(low_and_fifth_of_32(block, at), 16);
}
INGOT_ON_DEVICE std::uint32_t codes_at(const BlockQ5_1& block, unsigned at) { return low_and_fifth_of_32(block, at); }
INGOT_ON_DEVICE std::uint32_t codes_at(const BlockQ8_0& block, unsigned at) {
  return load_quad<BlockQ8_0>(block.codes + at);
}
INGOT_ON_DEVICE std::uint32_t codes_at(const BlockIQ4_NL& block, unsigned at) {
  constexpr PackedTable table = pack_table(iq4_nl_values);
  return look_up_quad(table, low_of_32(block, at));
}
INGOT_ON_DEVICE std::uint32_t codes_at(const BlockMXFP4& block, unsigned at) {
  constexpr PackedTable table = pack_table(mxfp4_values);
  return look_up_quad(table, low_of_32(block, at));
}

// Formats of 256: two bits of elements l, l + 32, l + 64 and l + 96 of a half of 128 in byte l of 32.
template <class Block>
INGOT_ON_DEVICE std::uint32_t two_bits_of_256(const std::uint8_t* bytes, unsigned at) {
  return load_quad<Block>(bytes + 32 * (at / 128) + at % 32) >> 2 * (at % 128 / 32) & 0x03030303u;
}
// Four bits of groups 2 k and 2 k + 1, 32 elements each, in bytes 32 k to 32 k + 31.
template <class Block>
INGOT_ON_DEVICE std::uint32_t low_of_256(const Block& block, unsigned at) {
  return load_quad<Block>(block.low + 32 * (at / 64) + at % 32) >> (at % 64 < 32 ? 0 : 4) & 0x0f0f0f0fu;
}
// The bit of the group of 32 in byte l of 32.
template <class Block>
INGOT_ON_DEVICE std::uint32_t high_of_256(const Block& block, unsigned at) {
  return load_quad<Block>(block.high + at % 32) >> at / 32 & 0x01010101u;
}

INGOT_ON_DEVICE std::uint32_t codes_at(const BlockQ2_K& block, unsigned at) {
  return two_bits_of_256<BlockQ2_K>(block.low, at);
}
INGOT_ON_DEVICE std::uint32_t codes_at(const BlockQ3_K& block, unsigned at) {
  return less_in_bytes(two_bits_of_256<BlockQ3_K>(block.low, at) | high_of_256(block, at) << 2, 4);
}
INGOT_ON_DEVICE std::uint32_t codes_at(const BlockQ4_K& block, unsigned at) { return low_of_256(block, at); }
INGOT_ON_DEVICE std::uint32_t codes_at(const BlockQ5_K& block, unsigned at) {
  return low_of_256(block, at) | high_of_256(block, at) << 4;
}
INGOT_ON_DEVICE std::uint32_t codes_at(const BlockQ6_K& block, unsigned at) {
  const std::uint32_t low =
      load_quad<BlockQ6_K>(block.low + 64 * (at / 128) + at % 64) >> (at % 128 < 64 ? 0 : 4) & 0x0f0f0f0fu;
  return less_in_bytes(low | two_bits_of_256<BlockQ6_K>(block.high, at) << 4, 32);
}

INGOT_ON_DEVICE std::uint32_t codes_at(const BlockIQ4_XS& block, unsigned at) {
  constexpr PackedTable table = pack_table(iq4_nl_values);
  const std::uint32_t both = load_quad<BlockIQ4_XS>(block.low + 16 * (at / 32) + at % 16);
  return look_up_quad(table, both >> (at % 32 < 16 ? 0 : 4) & 0x0f0f0f0fu);
}

struct QuadScale {
  float scale;
  float minimum;
};

template <class Block>
  requires(Block::elements == 32)
INGOT_ON_DEVICE QuadScale scale_at(const Block& block, unsigned) {
  if constexpr (requires { block.base; }) {
    return {load_half(block.scale), -load_half(block.base)};
  } else if constexpr (requires { block.exponent; }) {
    const std::uint32_t stored = load_constant(&block.exponent);  // mxfp4_scale, which has only the host's words
    return {float_of_bits(stored < 2 ? 0x00200000u << stored : (stored - 1) << 23), 0};
  } else {
    return {load_half(block.scale), 0};
  }
}

// The integer scale and minimum of a group (tensor/block_formats.h says where their bits are).
struct GroupIntegers {
  std::int32_t scale;
  std::int32_t minimum;
};
INGOT_ON_DEVICE GroupIntegers group_integers(const BlockQ2_K& block, unsigned at) {
  const std::int32_t both = load_constant(block.scales + at / 16);
  return {both & 15, both >> 4};
}
INGOT_ON_DEVICE GroupIntegers group_integers(const BlockQ3_K& block, unsigned at) {
  const unsigned g = at / 16;
  const std::int32_t low = load_constant(block.scales + g % 8) >> (g < 8 ? 0 : 4) & 15;
  return {(low | (load_constant(block.scales + 8 + g % 4) >> 2 * (g / 4) & 3) << 4) - 32, 0};
}
INGOT_ON_DEVICE GroupIntegers packed_pair(const std::uint8_t (&packed)[12], unsigned g) {
  const std::int32_t scale = load_constant(packed + g % 4);
  const std::int32_t minimum = load_constant(packed + 4 + g % 4);
  if (g < 4) return {scale & 63, minimum & 63};
  const std::int32_t low = load_constant(packed + 4 + g);
  return {(low & 15) | scale >> 6 << 4, low >> 4 | minimum >> 6 << 4};
}
INGOT_ON_DEVICE GroupIntegers group_integers(const BlockQ4_K& block, unsigned at) {
  return packed_pair(block.scales, at / 32);
}
INGOT_ON_DEVICE GroupIntegers group_integers(const BlockQ5_K& block, unsigned at) {
  return packed_pair(block.scales, at / 32);
}
INGOT_ON_DEVICE GroupIntegers group_integers(const BlockQ6_K& block, unsigned at) {
  return {load_constant(block.scales + at / 16), 0};
}

INGOT_ON_DEVICE GroupIntegers group_integers(const BlockIQ4_XS& block, unsigned at) {
  const unsigned g = at / 32;
  const std::int32_t low = load_constant(block.scales_low + g / 2) >> 4 * (g % 2) & 15;
  return {(low | (load_constant(block.scales_high + g / 4) >> 2 * (g % 4) & 3) << 4) - 32, 0};
}

template <class Block>
  requires(Block::elements == 256)
INGOT_ON_DEVICE QuadScale scale_at(const Block& block, unsigned at) {
  const GroupIntegers integers = group_integers(block, at);
  float minimum = 0;
  if constexpr (requires { block.minimum; }) {
    minimum = load_half(block.minimum) * static_cast<float>(integers.minimum);
  }
  return {load_half(block.scale) * static_cast<float>(integers.scale), minimum};
}

template <class Block>
constexpr bool has_minimum =
    requires(const Block& block) { block.minimum; } || requires(const Block& block) { block.base; };

// Elements `at` to `at` + 3 of a row of blocks.
template <class Block>
INGOT_ON_DEVICE void decode_quad(const std::byte* row, std::uint32_t at, float (&values)[quad_codes]) {
  const Block& block = reinterpret_cast<const Block*>(row)[at / Block::elements];
  const unsigned within = at % Block::elements;
  const std::uint32_t codes = codes_at(block, within);
  const QuadScale scale = scale_at(block, within);
  INGOT_UNROLL
  for (unsigned i = 0; i < quad_codes; ++i) values[i] = scale.scale * code_of_quad(codes, i) - scale.minimum;
}

// Calls function.template operator()<Block>() with the struct of a block format.
template <class Function>
INGOT_ON_DEVICE void with_block(DType dtype, Function&& function) {
  switch (dtype) {
    case DType::q4_0: return function.template operator()<BlockQ4_0>();
    case DType::q4_1: return function.template operator()<BlockQ4_1>();
    case DType::q5_0: return function.template operator()<BlockQ5_0>();
    case DType::q5_1: return function.template operator()<BlockQ5_1>();
    case DType::q8_0: return function.template operator()<BlockQ8_0>();
    case DType::q2_k: return function.template operator()<BlockQ2_K>();
    case DType::q3_k: return function.template operator()<BlockQ3_K>();
    case DType::q4_k: return function.template operator()<BlockQ4_K>();
    case DType::q5_k: return function.template operator()<BlockQ5_K>();
    case DType::q6_k: return function.template operator()<BlockQ6_K>();
    case DType::iq4_nl: return function.template operator()<BlockIQ4_NL>();
    case DType::mxfp4: return function.template operator()<BlockMXFP4>();
    case DType::iq4_xs: return function.template operator()<BlockIQ4_XS>();
    default: stop();  // generic formats have no device code
  }
}

}  // namespace ingot::device
