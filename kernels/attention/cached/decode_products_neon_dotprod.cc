// Products over q8_0 rows. Keys meet queries that are codes as well, sixteen products an instruction, exactly; a
// block's sum is multiplied by both scales. Values become floats (coded_rows_neon-inl.h), and their scales are
// multiplied into the weights of a block.
#include "kernels/attention/cached/decode_products_coded.h"
#include "kernels/attention/cached/quad_words_neon.h"

#include <arm_neon.h>

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "hwy/base.h"

HWY_PUSH_ATTRIBUTES("arch=armv8.2-a+fp16fml+dotprod")

namespace ingot {
namespace {

// clang-format off
#include "kernels/attention/cached/quad_products_neon-inl.h"
#include "kernels/attention/cached/coded_rows_neon-inl.h"
// clang-format on

constexpr std::int64_t block_codes = sizeof(BlockQ8_0::codes);
constexpr std::int64_t lines_of_eight = 5;  // to ask for while a block of eight tokens is multiplied: 272 bytes
constexpr std::int64_t lines_of_four = 3;

HWY_INLINE const BlockQ8_0& block_of(const std::byte* row, std::int64_t block) {
  return reinterpret_cast<const BlockQ8_0*>(row)[block];
}

// Gathered in a register: a load that takes what several stores wrote just before would wait for them.
HWY_INLINE float32x4_t scales_of_four(const std::byte* const* rows, std::int64_t block) {
  const auto scale = [&](int row) {
    std::uint16_t bits;
    std::memcpy(&bits, &block_of(rows[row], block).scale, sizeof(bits));
    return std::uint64_t{bits};
  };
  return vcvt_f32_f16(vcreate_f16(scale(0) | scale(1) << 16 | scale(2) << 32 | scale(3) << 48));
}

// 32 codes of a key by those of a query, four sums.
HWY_INLINE float32x4_t product_of_codes(const std::int8_t* key, int8x16_t query, int8x16_t other_query) {
  const int32x4_t half = vdotq_s32(vdupq_n_s32(0), vld1q_s8(key), query);
  return vcvtq_f32_s32(vdotq_s32(half, vld1q_s8(key + 16), other_query));
}

void dot_head(const float* queries, const float* scales, const TokenRows& keys, const ComingRows& next, float* scores) {
  constexpr int tokens = 8;
  const auto* codes = reinterpret_cast<const std::int8_t*>(queries);
  const std::int64_t blocks = keys.dimensions / block_codes;
  const RowsInShares shares(next, divide_rounding_up(keys.count, tokens), blocks * lines_of_eight);
  for (std::int64_t first = 0; first < keys.count; first += tokens) {
    const RowsAhead ahead = shares.of(first / tokens);
    const std::byte* const* rows = keys.row + first;
    float32x4_t sums[tokens];
#pragma GCC unroll 8
    for (int t = 0; t < tokens; ++t) sums[t] = vdupq_n_f32(0);
    for (std::int64_t b = 0; b < blocks; ++b) {
#pragma GCC unroll 5
      for (int line = 0; line < lines_of_eight; ++line) ahead.fetch_twice(b * lines_of_eight + line);
      const int8x16_t query = vld1q_s8(codes + b * block_codes);
      const int8x16_t other_query = vld1q_s8(codes + b * block_codes + 16);
      const float32x4_t factors[2] = {vmulq_n_f32(scales_of_four(rows, b), scales[b]),
                                      vmulq_n_f32(scales_of_four(rows + 4, b), scales[b])};
      const auto add = [&](auto t) __attribute__((always_inline)) {  // lanes are named by constants
        const float32x4_t product = product_of_codes(block_of(rows[t], b).codes, query, other_query);
        sums[t] = vfmaq_laneq_f32(sums[t], product, factors[t / 4], t % 4);
      };
      [&]<int... t>(std::integer_sequence<int, t...>) __attribute__((always_inline)) {
        (add(std::integral_constant<int, t>()), ...);
      }(std::make_integer_sequence<int, tokens>());
    }
    vst1q_f32(scores + first, sums_of_lanes(sums));
    vst1q_f32(scores + first + 4, sums_of_lanes(sums + 4));
  }
}

// scaled[t] = weights[t] times the scale of row t, and 512, and zeros up to a multiple of four.
HWY_INLINE void scale_weights_of_head(const float* weights, const std::byte* const* rows, std::int64_t block,
                                      std::int64_t count, float* scaled) {
  std::int64_t t = 0;
  for (; t + 4 <= count; t += 4) {
    const float32x4_t scales = vmulq_n_f32(scales_of_four(rows + t, block), coded_value_factor);
    vst1q_f32(scaled + t, vmulq_f32(vld1q_f32(weights + t), scales));
  }
  for (; t < count; ++t) scaled[t] = weights[t] * (block_of(rows[t], block).scale.value() * coded_value_factor);
  for (; t % 4 != 0; ++t) scaled[t] = 0;
}

void mix_head(const float* weights, const TokenRows& values, const ComingRows& next, float* outputs) {
  alignas(64) float scaled[token_tile];
  const std::int64_t blocks = values.dimensions / block_codes;
  const RowsInShares shares(next, blocks, lines_of_four * divide_rounding_up(values.count, 4));
  for (std::int64_t first = 0, count = 0; first < values.count; first += count) {
    count = rows_in_line(values, first);
    for (std::int64_t b = 0; b < blocks; ++b) {
      scale_weights_of_head(weights + first, values.row + first, b, count, scaled);
      const auto* codes = reinterpret_cast<const std::byte*>(block_of(values.row[first], b).codes);
      mix_coded_block(scaled, codes, values.row_bytes, count, shares.of(b), outputs + b * block_codes);
    }
  }
}

// scaled[t][head] = weights[t][head] times the scale of row t, and 512, for whole fours of rows: a tile has room for
// them.
HWY_INLINE void scale_weights(const float* weights, const std::byte* const* rows, std::int64_t block,
                              std::int64_t count, float* scaled) {
  for (std::int64_t t = 0; t < count; t += 4) {
    const float32x4_t four = vmulq_n_f32(scales_of_four(rows + t, block), coded_value_factor);
    const float* from = weights + quad * t;
    float* to = scaled + quad * t;
    vst1q_f32(to, vmulq_laneq_f32(vld1q_f32(from), four, 0));
    vst1q_f32(to + quad, vmulq_laneq_f32(vld1q_f32(from + quad), four, 1));
    vst1q_f32(to + 2 * quad, vmulq_laneq_f32(vld1q_f32(from + 2 * quad), four, 2));
    vst1q_f32(to + 3 * quad, vmulq_laneq_f32(vld1q_f32(from + 3 * quad), four, 3));
  }
}

}  // namespace

void dot_quads_coded(const float* queries, std::int64_t quads, std::int64_t width, const TokenRows& keys,
                     const ComingRows& next, float* scores) {
  const std::int64_t blocks = keys.dimensions / block_codes;
  const RowsInShares shares(next, divide_rounding_up(keys.count, 8), blocks * lines_of_eight);
  for (std::int64_t q = 0; q < quads; ++q) {
    const float* query = queries + q * width * quad;
    for (std::int64_t t = 0; t < keys.count; t += 8) {
      dot_coded_quad(reinterpret_cast<const std::int8_t*>(query), factors_behind(query, width * quad), keys.row + t,
                     blocks, shares.of(t / 8), scores + (q * token_tile + t) * quad);
    }
  }
}

void mix_quads_coded(const float* weights, std::int64_t quads, const TokenRows& values, const ComingRows& next,
                     float* outputs, std::int64_t width) {
  alignas(64) float scaled[token_tile * quad];
  const std::int64_t blocks = values.dimensions / block_codes;
  const RowsInShares shares(next, 2 * blocks, values.count / 2);
  for (std::int64_t q = 0; q < quads; ++q) {
    for (std::int64_t b = 0; b < blocks; ++b) {
      scale_weights(weights + q * token_tile * quad, values.row, b, values.count, scaled);
      float* output = outputs + q * quad * width + b * block_codes;
      for (std::int64_t first = 0, count = 0; first < values.count; first += count) {
        count = rows_in_line(values, first);
        const auto* codes = reinterpret_cast<const std::byte*>(block_of(values.row[first], b).codes);
        const float* weight = scaled + first * quad;
        mix_coded_quad(weight, codes, values.row_bytes, count, shares.of(2 * b), output, width);
        mix_coded_quad(weight, codes + 16, values.row_bytes, count, shares.of(2 * b + 1), output + 16, width);
      }
    }
  }
}

void dot_heads_coded(const float* queries, std::int64_t heads, std::int64_t width, const TokenRows& keys,
                     const ComingRows& next, float* scores) {
  for (std::int64_t h = 0; h < heads; ++h) {
    const float* query = queries + h * width;
    dot_head(query, factors_behind(query, width), keys, next, scores + h * token_tile);
  }
}

void mix_heads_coded(const float* weights, std::int64_t heads, const TokenRows& values, const ComingRows& next,
                     float* outputs, std::int64_t width) {
  for (std::int64_t h = 0; h < heads; ++h) mix_head(weights + h * token_tile, values, next, outputs + h * width);
}

}  // namespace ingot

HWY_POP_ATTRIBUTES
