// The scales and minimums of a block's groups of 16 elements, apart from its codes: scalar work that every reader of a
// block does alike (see block_codes.h).
#pragma once

#include "tensor/block_codes.h"
#include "tensor/block_formats.h"

namespace ingot {

constexpr void set_groups(BlockCodes& out, int first, int count, float scale, float minimum) {
  for (int group = first; group < first + count; ++group) {
    out.scales[group] = scale;
    out.minimums[group] = minimum;
  }
}

constexpr void unpack_scales(const BlockQ4_0& block, BlockCodes& out) { set_groups(out, 0, 2, block.scale.value(), 0); }
constexpr void unpack_scales(const BlockQ5_0& block, BlockCodes& out) { set_groups(out, 0, 2, block.scale.value(), 0); }
constexpr void unpack_scales(const BlockQ8_0& block, BlockCodes& out) { set_groups(out, 0, 2, block.scale.value(), 0); }
constexpr void unpack_scales(const BlockIQ4_NL& block, BlockCodes& out) {
  set_groups(out, 0, 2, block.scale.value(), 0);
}
constexpr void unpack_scales(const BlockMXFP4& block, BlockCodes& out) {
  set_groups(out, 0, 2, mxfp4_scale(block.exponent), 0);
}
constexpr void unpack_scales(const BlockQ4_1& block, BlockCodes& out) {
  set_groups(out, 0, 2, block.scale.value(), -block.base.value());
}
constexpr void unpack_scales(const BlockQ5_1& block, BlockCodes& out) {
  set_groups(out, 0, 2, block.scale.value(), -block.base.value());
}

constexpr void unpack_scales(const BlockQ2_K& block, BlockCodes& out) {
  const float scale = block.scale.value();
  const float minimum = block.minimum.value();
  for (int group = 0; group < 16; ++group) {
    set_groups(out, group, 1, scale * static_cast<float>(block.scales[group] & 15),
               minimum * static_cast<float>(block.scales[group] >> 4));
  }
}

constexpr void unpack_scales(const BlockQ3_K& block, BlockCodes& out) {
  const float scale = block.scale.value();
  for (int group = 0; group < 16; ++group) {
    set_groups(out, group, 1, scale * static_cast<float>(q3_k_scale(block.scales, group)), 0);
  }
}

template <class Block>
constexpr void unpack_k_scales(const Block& block, BlockCodes& out) {
  const float scale = block.scale.value();
  const float minimum = block.minimum.value();
  for (int group = 0; group < 8; ++group) {
    set_groups(out, 2 * group, 2, scale * static_cast<float>(k_scale(block.scales, group)),
               minimum * static_cast<float>(k_minimum(block.scales, group)));
  }
}
constexpr void unpack_scales(const BlockQ4_K& block, BlockCodes& out) { unpack_k_scales(block, out); }
constexpr void unpack_scales(const BlockQ5_K& block, BlockCodes& out) { unpack_k_scales(block, out); }

constexpr void unpack_scales(const BlockQ6_K& block, BlockCodes& out) {
  const float scale = block.scale.value();
  for (int group = 0; group < 16; ++group) {
    set_groups(out, group, 1, scale * static_cast<float>(block.scales[group]), 0);
  }
}

// Calls function.template operator()<Block>() with the struct of a block format. Precondition: is_block_format(dtype).
template <class Function>
constexpr decltype(auto) with_block_type(DType dtype, Function&& function) {
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
    default: __builtin_trap();  // plain types have no blocks
  }
}

}  // namespace ingot
