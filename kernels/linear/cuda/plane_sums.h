// Sums of a tile of planes with up to eight tokens of x, in the order of kernels/linear/cuda/block_chain.h.
//
// Lane 4 g + t has sums of rows g and g + 8 with tokens 2 t and 2 t + 1: of one token only t = 0 has any, in values 0
// and 2 (`One`), and the others are not computed.
#pragma once

#include "kernels/device/matrix.h"
#include "kernels/linear/cuda/block_chain.h"
#include "kernels/linear/cuda/plane_products_cuda.h"
#include "kernels/linear/cuda/plane_units.h"
#include "kernels/linear/cuda/token_tiles.h"

namespace ingot::device {

// Codes of a token, a span of 256, as a matrix instruction takes them.
struct SpanOfX {
  MatrixB groups[span_groups];
};

// Of token g; zeros where there is none. Several tokens are laid as their lanes take them (prepared_x_cuda.h).
INGOT_ON_DEVICE SpanOfX load_span_of_x(const PlaneProducts& parameters, const TokenTile& tokens, unsigned span) {
  SpanOfX x = {};
  const unsigned token = lane_index() / 4;
  if (token >= tokens.count) return x;
  if (parameters.is_laid) {
    const std::uint64_t place =
        tokens.first / tile_tokens * std::uint64_t{parameters.joined.parts[0].depth} + span * span_elements;
    const std::int8_t* const from = parameters.codes + place * tile_tokens + lane_index() * 16;
    INGOT_UNROLL
    for (unsigned pair = 0; pair < span_groups / 2; ++pair) {
      const Words16 unit = load16_constant(from + pair * (warp_size * 16));
      INGOT_UNROLL
      for (unsigned i = 0; i < 4; ++i) x.groups[2 * pair + i / 2].words[i % 2] = unit.words[i];
    }
    return x;
  }
  const auto* const from = reinterpret_cast<const std::uint32_t*>(
      parameters.codes + (tokens.first + token) * parameters.codes_stride + span * span_elements);
  INGOT_UNROLL
  for (unsigned group = 0; group < span_groups; ++group) {
    INGOT_UNROLL
    for (unsigned part = 0; part < 2; ++part) {
      x.groups[group].words[part] = load_constant(from + group * 8 + part * 4 + lane_index() % 4);
    }
  }
  return x;
}

// In shared memory a token's span is 16 units of 16 bytes, unit u in the place of u ^ token % 8: eight tokens' units of
// one number lie in different banks.
INGOT_ON_DEVICE unsigned place_of_codes(unsigned token, unsigned unit) {
  return token * span_elements + (unit ^ token % 8) * 16;
}
INGOT_ON_DEVICE SpanOfX load_shared_span(const std::byte* codes, unsigned first_token) {
  SpanOfX x;
  INGOT_UNROLL
  for (unsigned pair = 0; pair < span_groups / 2; ++pair) {
    const MatrixWords<4> words =
        load_matrices<4>(codes + place_of_codes(first_token + lane_index() % 8, 4 * pair + lane_index() / 8));
    INGOT_UNROLL
    for (unsigned i = 0; i < 4; ++i) x.groups[2 * pair + i / 2].words[i % 2] = words.words[i];
  }
  return x;
}

// Scales of tokens 2 t and 2 t + 1 of a tile: of a span's eight blocks, or of its one. 0: there is no such token.
template <unsigned Blocks>
struct XScales {
  float values[2][Blocks];
};
template <unsigned Blocks>
INGOT_ON_DEVICE XScales<Blocks> load_x_scales(const PlaneProducts& parameters, const TokenTile& tokens, unsigned first,
                                              unsigned span) {
  XScales<Blocks> x = {};
  INGOT_UNROLL
  for (unsigned i = 0; i < 2; ++i) {
    const unsigned token = first + lane_index() % 4 * 2 + i;
    if (token >= tokens.count) continue;
    const float* const from = parameters.scales + (tokens.first + token) * parameters.scales_stride + span * Blocks;
    if constexpr (Blocks == 1) {
      x.values[i][0] = load_constant(from);
    } else {
      INGOT_UNROLL
      for (unsigned block = 0; block < Blocks; block += 4) {
        const Words16 four = load16(from + block);
        INGOT_UNROLL
        for (unsigned j = 0; j < 4; ++j) x.values[i][block + j] = float_of_bits(four.words[j]);
      }
    }
  }
  return x;
}

INGOT_ON_DEVICE MatrixA factor_of(const GroupWords& words) {
  return {{words.words[0][0], words.words[1][0], words.words[0][1], words.words[1][1]}};
}

// Blocks of 32.
template <bool One, class Block>
  requires(Block::elements == 32)
INGOT_ON_DEVICE void add_tile_sums(const SpanOfX& x, const XScales<span_groups>& x_scales,
                                   const PlaneUnits<Block>& weights, FloatSums& sums) {
  INGOT_UNROLL
  for (unsigned group = 0; group < span_groups; ++group) {
    IntegerSums products = {{0, 0, 0, 0}};
    matrix_multiply_16x8x32(products, factor_of(weights.words(group)), x.groups[group]);
    INGOT_UNROLL
    for (unsigned i = 0; i < 4; ++i) {
      if (One && i % 2 == 1) continue;
      sums.values[i] = add_block(sums.values[i], products.values[i], 0, {weights.scale(i / 2, group), 0},
                                 x_scales.values[i % 2][group]);
    }
  }
}

// Every byte of a word the one at `index`.
INGOT_ON_DEVICE std::uint32_t repeated_byte(std::uint32_t word, unsigned index) {
  return (word >> 8 * index & 255u) * 0x01010101u;
}

// Integers of a block of 256: products weighed by the groups' scales, codes of x by their minimums.
struct TileIntegers {
  std::int32_t products[4] = {};
  IntegerSums codes = {{0, 0, 0, 0}};
};

// Groups of 32. Minimums are a product like the codes': every element of a group has the group's minimum.
template <bool One>
INGOT_ON_DEVICE void weigh(const HeadUnits& weights, const GroupWords& words, const MatrixB& x, unsigned group,
                           TileIntegers& to) {
  IntegerSums products = {{0, 0, 0, 0}};
  matrix_multiply_16x8x32(products, factor_of(words), x);
  GroupWords minimums;
  std::int32_t scales[2];
  INGOT_UNROLL
  for (unsigned half = 0; half < 2; ++half) {
    minimums.words[half][0] = repeated_byte(weights.group_minimums(half, group / 4), group % 4);
    minimums.words[half][1] = minimums.words[half][0];
    scales[half] = static_cast<std::int32_t>(weights.group_scales(half, group / 4) >> group % 4 * 8 & 255u);
  }
  matrix_multiply_16x8x32(to.codes, factor_of(minimums), x);
  INGOT_UNROLL
  for (unsigned i = 0; i < 4; ++i) {
    if (!(One && i % 2 == 1)) to.products[i] += products.values[i] * scales[i / 2];
  }
}
// Groups of 16, a part each: the other part's words are zeros.
template <bool One>
INGOT_ON_DEVICE void weigh(const PlaneUnits<BlockQ6_K>& weights, const GroupWords& words, const MatrixB& x,
                           unsigned group, TileIntegers& to) {
  INGOT_UNROLL
  for (unsigned part = 0; part < 2; ++part) {
    MatrixA factor = {{0, 0, 0, 0}};
    INGOT_UNROLL
    for (unsigned half = 0; half < 2; ++half) factor.words[2 * part + half] = words.words[half][part];
    IntegerSums products = {{0, 0, 0, 0}};
    matrix_multiply_16x8x32(products, factor, x);
    INGOT_UNROLL
    for (unsigned i = 0; i < 4; ++i) {
      if (!(One && i % 2 == 1)) to.products[i] += products.values[i] * weights.group_scale(i / 2, group, part);
    }
  }
}

// Blocks of 256.
template <bool One, class Block>
  requires(Block::elements == 256)
INGOT_ON_DEVICE void add_tile_sums(const SpanOfX& x, const XScales<1>& x_scales, const PlaneUnits<Block>& weights,
                                   FloatSums& sums) {
  TileIntegers integers;
  INGOT_UNROLL
  for (unsigned group = 0; group < span_groups; ++group) {
    weigh<One>(weights, weights.words(group), x.groups[group], group, integers);
  }
  INGOT_UNROLL
  for (unsigned i = 0; i < 4; ++i) {
    if (One && i % 2 == 1) continue;
    BlockScale scale = {weights.scale(i / 2), 0};
    if constexpr (PlaneUnits<Block>::has_minimums) scale.base = -weights.minimum(i / 2);
    sums.values[i] =
        add_block(sums.values[i], integers.products[i], integers.codes.values[i], scale, x_scales.values[i % 2][0]);
  }
}

}  // namespace ingot::device
