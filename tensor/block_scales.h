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

// The integer scale of group g in a format of 256 elements, and its integer minimum where the format has them.
constexpr int group_scale(const BlockQ2_K& block, int g) { return block.scales[g] & 15; }
constexpr int group_scale(const BlockQ3_K& block, int g) { return q3_k_scale(block.scales, g); }
constexpr int group_scale(const BlockQ4_K& block, int g) { return k_scale(block.scales, g); }
constexpr int group_scale(const BlockQ5_K& block, int g) { return k_scale(block.scales, g); }
constexpr int group_scale(const BlockQ6_K& block, int g) { return block.scales[g]; }
constexpr int group_scale(const BlockIQ4_XS& block, int g) { return iq4_xs_scale(block, g); }
constexpr int group_minimum(const BlockQ2_K& block, int g) { return block.scales[g] >> 4; }
constexpr int group_minimum(const BlockQ4_K& block, int g) { return k_minimum(block.scales, g); }
constexpr int group_minimum(const BlockQ5_K& block, int g) { return k_minimum(block.scales, g); }

template <class Block>
  requires(Block::elements == 256)
constexpr void unpack_scales(const Block& block, BlockCodes& out) {
  constexpr int sixteens = Block::group / code_group;
  const float scale = block.scale.value();
  for (int group = 0; group < 256 / Block::group; ++group) {
    float minimum = 0;
    if constexpr (requires { block.minimum; }) {
      minimum = block.minimum.value() * static_cast<float>(group_minimum(block, group));
    }
    set_groups(out, sixteens * group, sixteens, scale * static_cast<float>(group_scale(block, group)), minimum);
  }
}

// Calls function.template operator()<Block>() with the struct of a block format. Precondition: is_block_format(dtype),
// and not is_generic_format(dtype).
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
    case DType::iq4_xs: return function.template operator()<BlockIQ4_XS>();
    default: __builtin_trap();  // plain types have no blocks, generic formats none that is shared
  }
}

}  // namespace ingot
