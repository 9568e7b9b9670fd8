// Rows of a cache as vectors of floats, decoded in registers, and the two products of attention over them. Included
// after hwy/highway.h; the guard toggles with each target.
//
// A head of keys is read once for all query heads that share it. Both products are blocks of Heads query heads:
//
//   scores[h][t]  = sum_i queries[h][i] key[t][i]      Heads x Tokens sums, lanes are dimensions
//   outputs[h][i] += sum_t weights[h][t] value[t][i]   Heads x Vectors sums, lanes are dimensions
//
// With four heads a vector that was loaded and converted (two instructions on x86, one and a half on NEON) feeds four
// multiply-adds, and 8 sums at least hide their latency (4 cycles, 2 a cycle).
#if defined(INGOT_KERNELS_ATTENTION_CACHED_TOKEN_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_KERNELS_ATTENTION_CACHED_TOKEN_ROWS_INL_H_
#undef INGOT_KERNELS_ATTENTION_CACHED_TOKEN_ROWS_INL_H_
#else
#define INGOT_KERNELS_ATTENTION_CACHED_TOKEN_ROWS_INL_H_
#endif

#include <cstring>

#include "hwy/highway.h"
#include "kernels/attention/cached/cache_rows-inl.h"
#include "kernels/attention/cached/decode_plan.h"
#include "kernels/attention/tiles-inl.h"
#include "kernels/cache/q8_0-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {

// How far ahead of a row memory is asked for: beyond what the hardware fetches by itself, which ends with a page.
inline constexpr std::int64_t bytes_ahead = 2048;

HWY_INLINE void fetch_ahead(const void* at) { __builtin_prefetch(static_cast<const std::byte*>(at) + bytes_ahead); }

// Rows of plain numbers, as whole vectors.
template <class Element>
struct PlainRow {
  const Element* data;

  HWY_INLINE PlainRow(const TokenRows& rows, std::int64_t token)
      : data(reinterpret_cast<const Element*>(rows.row[token])) {}
  HWY_INLINE FloatVector at(std::int64_t i) const { return load_as_float(data + i); }
  HWY_INLINE FloatVector streamed(std::int64_t i) const {
    fetch_ahead(data + i);
    return at(i);
  }
};

// Rows of q8_0 blocks; their scales were made floats for the whole tile (gather_scales).
struct CodedRow {
  const BlockQ8_0* data;
  const float* scales;

  HWY_INLINE CodedRow(const TokenRows& rows, std::int64_t token)
      : data(reinterpret_cast<const BlockQ8_0*>(rows.row[token])), scales(rows.scales + token * rows.blocks) {}
  HWY_INLINE const std::int8_t* codes(std::int64_t i) const {
    return data[i / block_of_codes].codes + i % block_of_codes;
  }
  HWY_INLINE FloatVector at(std::int64_t i) const {
    namespace hn = hwy::HWY_NAMESPACE;
    return hn::Mul(hn::Set(FloatTag(), scales[i / block_of_codes]), load_as_float(codes(i)));
  }
  HWY_INLINE FloatVector streamed(std::int64_t i) const {
    fetch_ahead(codes(i));
    return at(i);
  }
};

// The sums of lanes of four vectors, in order. Halves meet first, then the four sums of every 128 bits.
HWY_INLINE hwy::HWY_NAMESPACE::Vec128<float> sums_of_four(FloatVector a, FloatVector b, FloatVector c, FloatVector e) {
  namespace hn = hwy::HWY_NAMESPACE;
  const FloatTag d;
  const hn::Repartition<double, FloatTag> pairs;
  const auto two = hn::Add(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b));
  const auto other = hn::Add(hn::InterleaveLower(d, c, e), hn::InterleaveUpper(d, c, e));
  const auto lower = hn::InterleaveLower(pairs, hn::BitCast(pairs, two), hn::BitCast(pairs, other));
  const auto upper = hn::InterleaveUpper(pairs, hn::BitCast(pairs, two), hn::BitCast(pairs, other));
  const auto four = hn::Add(hn::BitCast(d, lower), hn::BitCast(d, upper));
#if HWY_TARGET == HWY_AVX3
  const hn::Half<FloatTag> half;
  const hn::Half<hn::Half<FloatTag>> quarter;
  const auto two_blocks = hn::Add(hn::LowerHalf(half, four), hn::UpperHalf(half, four));
  return hn::Add(hn::LowerHalf(quarter, two_blocks), hn::UpperHalf(quarter, two_blocks));
#elif HWY_TARGET == HWY_AVX2
  const hn::Half<FloatTag> half;
  return hn::Add(hn::LowerHalf(half, four), hn::UpperHalf(half, four));
#else
  return four;
#endif
}

template <class Row, int Heads, int Tokens>
HWY_INLINE void dot_tokens(const float* queries, std::int64_t width, const TokenRows& rows, std::int64_t first,
                           float* scores) {
  namespace hn = hwy::HWY_NAMESPACE;
  const FloatTag d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  FloatVector sums[Heads * Tokens];
#pragma GCC unroll 16
  for (int i = 0; i < Heads * Tokens; ++i) sums[i] = hn::Zero(d);
  for (std::int64_t i = 0; i < rows.dimensions; i += lanes) {
    FloatVector key[Tokens];
#pragma GCC unroll 8
    for (int t = 0; t < Tokens; ++t) key[t] = Row(rows, first + t).streamed(i);
#pragma GCC unroll 4
    for (int h = 0; h < Heads; ++h) {
      const auto query = hn::Load(d, queries + h * width + i);
#pragma GCC unroll 8
      for (int t = 0; t < Tokens; ++t) sums[h * Tokens + t] = hn::MulAdd(query, key[t], sums[h * Tokens + t]);
    }
  }
  HWY_ALIGN float results[Heads * Tokens];
#pragma GCC unroll 4
  for (int i = 0; i < Heads * Tokens; i += 4) {
    hn::Store(sums_of_four(sums[i], sums[i + 1], sums[i + 2], sums[i + 3]), hn::Full128<float>(), results + i);
  }
#pragma GCC unroll 4
  for (int h = 0; h < Heads; ++h) {
    std::memcpy(scores + h * token_tile + first, results + h * Tokens, Tokens * sizeof(float));
  }
}

// scores [heads][token_tile]. Tokens behind the count are multiplied too, and never looked at. Rows that come next are
// for products that ask memory for them; these ask for what lies behind their own.
template <class Row>
void dot_head_group(const float* queries, std::int64_t heads, std::int64_t width, const TokenRows& rows,
                    const ComingRows&, float* scores) {
  constexpr int tokens_of_four = block_vectors;  // as many sums as there are registers for
  std::int64_t h = 0;
  for (; h + 4 <= heads; h += 4) {
    for (std::int64_t t = 0; t < rows.count; t += tokens_of_four) {
      dot_tokens<Row, 4, tokens_of_four>(queries + h * width, width, rows, t, scores + h * token_tile);
    }
  }
  for (; h + 2 <= heads; h += 2) {
    for (std::int64_t t = 0; t < rows.count; t += 4) {
      dot_tokens<Row, 2, 4>(queries + h * width, width, rows, t, scores + h * token_tile);
    }
  }
  for (; h < heads; ++h) {
    for (std::int64_t t = 0; t < rows.count; t += 8) {
      dot_tokens<Row, 1, 8>(queries + h * width, width, rows, t, scores + h * token_tile);
    }
  }
}

template <class Row, int Heads, int Vectors>
HWY_INLINE void mix_tokens(const float* weights, const TokenRows& rows, std::int64_t first, float* outputs,
                           std::int64_t width) {
  namespace hn = hwy::HWY_NAMESPACE;
  const FloatTag d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  FloatVector sums[Heads][Vectors];
#pragma GCC unroll 4
  for (int h = 0; h < Heads; ++h) {
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v) sums[h][v] = hn::LoadU(d, outputs + h * width + first + v * lanes);
  }
  for (std::int64_t t = 0; t < rows.count; ++t) {
    const Row row(rows, t);
    FloatVector value[Vectors];
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v) value[v] = row.streamed(first + v * lanes);
#pragma GCC unroll 4
    for (int h = 0; h < Heads; ++h) {
      const auto weight = hn::Set(d, weights[h * token_tile + t]);
#pragma GCC unroll 4
      for (int v = 0; v < Vectors; ++v) sums[h][v] = hn::MulAdd(weight, value[v], sums[h][v]);
    }
  }
#pragma GCC unroll 4
  for (int h = 0; h < Heads; ++h) {
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v) hn::StoreU(sums[h][v], d, outputs + h * width + first + v * lanes);
  }
}

template <class Row, int Heads, int Vectors>
void mix_heads(const float* weights, const TokenRows& rows, float* outputs, std::int64_t width) {
  constexpr auto lanes = static_cast<std::int64_t>(hwy::HWY_NAMESPACE::MaxLanes(FloatTag()));
  std::int64_t i = 0;
  for (; i + Vectors * lanes <= rows.dimensions; i += Vectors * lanes) {
    mix_tokens<Row, Heads, Vectors>(weights, rows, i, outputs, width);
  }
  for (; i < rows.dimensions; i += lanes) mix_tokens<Row, Heads, 1>(weights, rows, i, outputs, width);
}

// outputs [heads][width] += weights [heads][token_tile] times rows.
template <class Row>
void mix_head_group(const float* weights, std::int64_t heads, const TokenRows& rows, const ComingRows&, float* outputs,
                    std::int64_t width) {
  std::int64_t h = 0;
  for (; h + 4 <= heads; h += 4) {
    mix_heads<Row, 4, block_vectors>(weights + h * token_tile, rows, outputs + h * width, width);
  }
  for (; h + 2 <= heads; h += 2) {
    mix_heads<Row, 2, 4>(weights + h * token_tile, rows, outputs + h * width, width);
  }
  for (; h < heads; ++h) {
    mix_heads<Row, 1, 4>(weights + h * token_tile, rows, outputs + h * width, width);
  }
}

}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggling guard
