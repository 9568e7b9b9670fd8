// Products over f16 rows by FMLAL. Keys meet halves; values, whose weights are floats, become floats as 0 + x 1, which
// is exact, and issues four times a cycle on a Neoverse-V1, where FCVTL issues once and keeps the other pipes waiting
// (16 multiply-adds with their 4 conversions take 5.8 cycles instead of 9).
#include "kernels/attention/cached/decode_products_fhm.h"
#include "kernels/attention/cached/quad_words_neon.h"

#include <arm_neon.h>

#include <algorithm>

#include "hwy/base.h"

HWY_PUSH_ATTRIBUTES("arch=armv8.2-a+fp16fml")

namespace ingot {
namespace {

// clang-format off
#include "kernels/attention/cached/quad_products_neon-inl.h"
#include "kernels/attention/cached/half_quads_neon-inl.h"
// clang-format on

// A zero of its own to add to. Compilers copy one zero from register to register, which takes a slot of the vector
// pipes; writing it anew takes none. Naming what it waits for makes each one different.
HWY_INLINE float32x4_t zero_for(float16x8_t numbers) {
  float32x4_t zero;
  __asm__("movi %0.2d, #0" : "=w"(zero) : "w"(numbers));
  return zero;
}

HWY_INLINE float32x4_t low_floats(float16x8_t numbers) {
  return vfmlalq_low_f16(zero_for(numbers), numbers, vdupq_n_f16(1));
}
HWY_INLINE float32x4_t high_floats(float16x8_t numbers) {
  return vfmlalq_high_f16(zero_for(numbers), numbers, vdupq_n_f16(1));
}

struct HalfRow {
  const float16_t* data;

  HWY_INLINE HalfRow(const TokenRows& rows, std::int64_t token)
      : data(reinterpret_cast<const float16_t*>(rows.row[token])) {}
  HWY_INLINE float32x4_t at(std::int64_t i) const {
    return low_floats(vcombine_f16(vld1_f16(data + i), vdup_n_f16(0)));
  }
};

void dot_head(const float* queries, float factor, const TokenRows& keys, const ComingRows& next, float* scores) {
  constexpr int tokens = 8;
  const RowsInShares shares(next, divide_rounding_up(keys.count, tokens), keys.dimensions / 4);
  for (std::int64_t first = 0; first < keys.count; first += tokens) {
    const RowsAhead ahead = shares.of(first / tokens);
    float32x4_t low[tokens], high[tokens];
#pragma GCC unroll 8
    for (int t = 0; t < tokens; ++t) low[t] = high[t] = vdupq_n_f32(0);
    for (std::int64_t i = 0; i < keys.dimensions; i += 8) {
      ahead.fetch(i / 4);
      ahead.fetch(i / 4 + 1);
      const float16x8_t query = vld1q_f16(reinterpret_cast<const float16_t*>(queries) + i);
#pragma GCC unroll 8
      for (int t = 0; t < tokens; ++t) {
        const float16x8_t key = vld1q_f16(HalfRow(keys, first + t).data + i);
        low[t] = vfmlalq_low_f16(low[t], key, query);
        high[t] = vfmlalq_high_f16(high[t], key, query);
      }
    }
#pragma GCC unroll 8
    for (int t = 0; t < tokens; ++t) low[t] = vaddq_f32(low[t], high[t]);
    vst1q_f32(scores + first, vmulq_n_f32(sums_of_lanes(low), factor));
    vst1q_f32(scores + first + 4, vmulq_n_f32(sums_of_lanes(low + 4), factor));
  }
}

// outputs of Eights times eight dimensions from `first` on.
template <int Eights>
HWY_INLINE void mix_eights(const float* weights, const TokenRows& values, std::int64_t first, const RowsAhead& ahead,
                           float* outputs) {
  float32x4_t sums[2 * Eights];
#pragma GCC unroll 16
  for (int v = 0; v < 2 * Eights; ++v) sums[v] = vld1q_f32(outputs + first + 4 * v);
  for (std::int64_t t = 0; t < values.count; ++t) {
    ahead.fetch(2 * t);
    ahead.fetch(2 * t + 1);
    const float32x4_t weight = vld1q_dup_f32(weights + t);
    const float16_t* row = HalfRow(values, t).data + first;
#pragma GCC unroll 8
    for (int e = 0; e < Eights; ++e) {
      const float16x8_t value = vld1q_f16(row + 8 * e);
      sums[2 * e] = vfmaq_f32(sums[2 * e], weight, low_floats(value));
      sums[2 * e + 1] = vfmaq_f32(sums[2 * e + 1], weight, high_floats(value));
    }
  }
#pragma GCC unroll 16
  for (int v = 0; v < 2 * Eights; ++v) vst1q_f32(outputs + first + 4 * v, sums[v]);
}

void mix_head(const float* weights, const TokenRows& values, const ComingRows& next, float* outputs) {
  constexpr int eights = 8;  // of dimensions a pass: 16 sums
  const std::int64_t passes = divide_rounding_up(values.dimensions, 8 * eights);
  const RowsInShares shares(next, passes, 2 * values.count);
  for (std::int64_t first = 0; first < values.dimensions;) {
    const RowsAhead ahead = shares.of(first / (8 * eights));
    const bool is_whole = first + 8 * eights <= values.dimensions;
    if (is_whole) {
      mix_eights<eights>(weights, values, first, ahead, outputs);
    } else {
      mix_eights<1>(weights, values, first, ahead, outputs);
    }
    first += is_whole ? 8 * eights : 8;
  }
}

}  // namespace

void dot_quads_fhm(const float* queries, std::int64_t quads, std::int64_t width, const TokenRows& keys,
                   const ComingRows& next, float* scores) {
  const RowsInShares shares(next, divide_rounding_up(keys.count, 8), keys.dimensions / 4);
  for (std::int64_t q = 0; q < quads; ++q) {
    for (std::int64_t t = 0; t < keys.count; t += 8) {
      const float* query = queries + q * width * quad;
      dot_half_quad(query, factors_behind(query, width * quad), keys.row + t, keys.dimensions, shares.of(t / 8),
                    scores + (q * token_tile + t) * quad);
    }
  }
}

void mix_quads_fhm(const float* weights, std::int64_t quads, const TokenRows& values, const ComingRows& next,
                   float* outputs, std::int64_t width) {
  const std::int64_t whole = values.dimensions / 16 * 16;
  const RowsInShares shares(next, divide_rounding_up(values.dimensions, 16), values.count / 2);
  for (std::int64_t q = 0; q < quads; ++q) {
    const float* weight = weights + q * token_tile * quad;
    float* output = outputs + q * quad * width;
    for (std::int64_t first = 0, count = 0; first < values.count; first += count) {
      count = rows_in_line(values, first);
      for (std::int64_t i = 0; i < whole; i += 16) {
        mix_half_quad(weight + first * quad, values.row[first] + 2 * i, values.row_bytes, count, shares.of(i / 16),
                      output + i, width);
      }
    }
    for (std::int64_t i = whole; i < values.dimensions; i += 4) {
      mix_quad<HalfRow, 1>(weight, values, i, shares.of(whole / 16), output, width);
    }
  }
}

void dot_heads_fhm(const float* queries, std::int64_t heads, std::int64_t width, const TokenRows& keys,
                   const ComingRows& next, float* scores) {
  for (std::int64_t h = 0; h < heads; ++h) {
    const float* query = queries + h * width;
    dot_head(query, *factors_behind(query, width), keys, next, scores + h * token_tile);
  }
}

void mix_heads_fhm(const float* weights, std::int64_t heads, const TokenRows& values, const ComingRows& next,
                   float* outputs, std::int64_t width) {
  for (std::int64_t h = 0; h < heads; ++h) mix_head(weights + h * token_tile, values, next, outputs + h * width);
}

}  // namespace ingot

HWY_POP_ATTRIBUTES
