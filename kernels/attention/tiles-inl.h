// The two products of tiled attention, on registers. Included after hwy/highway.h; the guard toggles with each target.
//
// A tile holds row_tile queries and key_tile keys. Scores lie [key][query], so that lanes are queries: maxima, sums and
// exponentials need no work across lanes, queries are packed once for all keys, and keys are read where they lie (on
// NEON: turned over first).
#if defined(INGOT_KERNELS_ATTENTION_TILES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_KERNELS_ATTENTION_TILES_INL_H_
#undef INGOT_KERNELS_ATTENTION_TILES_INL_H_
#else
#define INGOT_KERNELS_ATTENTION_TILES_INL_H_
#endif

#include "hwy/highway.h"
#include "kernels/attention/lane_blocks-inl.h"
#include "kernels/attention/tiles.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {

// A block is 4 scalars by this many vectors. 16 accumulators where there are 32 registers, 8 where there are 16: both
// cover the latency of a fused multiply-add (4 cycles, 2 a cycle), and leave registers for the operands.
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
inline constexpr int block_vectors = 4;
#else
inline constexpr int block_vectors = 2;
#endif

// products[k][lane] = sum_d keys[k stride + d] queries[d][lane], for Keys keys and Vectors vectors of queries.
template <int Keys, int Vectors>
HWY_INLINE void dot_block(const float* keys, std::int64_t stride, std::int64_t dimensions, const float* queries,
                          float* products) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  hn::Vec<decltype(d)> sums[Keys][Vectors];
#pragma GCC unroll 4
  for (int k = 0; k < Keys; ++k) {
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v) sums[k][v] = hn::Zero(d);
  }
  for (std::int64_t i = 0; i < dimensions; ++i) {
    hn::Vec<decltype(d)> query[Vectors];
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v) query[v] = hn::LoadU(d, queries + i * row_tile + v * lanes);
#pragma GCC unroll 4
    for (int k = 0; k < Keys; ++k) {
      const auto key = hn::Set(d, keys[k * stride + i]);
#pragma GCC unroll 4
      for (int v = 0; v < Vectors; ++v) sums[k][v] = hn::MulAdd(key, query[v], sums[k][v]);
    }
  }
#pragma GCC unroll 4
  for (int k = 0; k < Keys; ++k) {
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v) hn::StoreU(sums[k][v], d, products + k * row_tile + v * lanes);
  }
}

// Keys of a tile as dot_tile reads them: rows, on NEON turned over into the buffer of `dimensions` times key_tile.
inline WholeRows keys_for_products(WholeRows keys, [[maybe_unused]] std::int64_t count,
                                   [[maybe_unused]] std::int64_t dimensions, [[maybe_unused]] float* buffer) {
#if HWY_TARGET == HWY_NEON
  turn_keys(keys, count, dimensions, buffer);
  return {buffer, key_tile};
#else
  return keys;
#endif
}

// products [count][row_tile] = keys [count][dimensions] times queries [dimensions][row_tile], for the first `vectors`
// vectors of queries. Keys are those of keys_for_products.
inline void dot_tile(WholeRows tile_keys, std::int64_t count, std::int64_t dimensions, const float* queries,
                     std::int64_t vectors, float* products) {
#if HWY_TARGET == HWY_NEON
  static_assert(key_tile % 4 == 0);
  // A column of queries stays in the first-level cache while all keys pass it.
  for (std::int64_t v = 0; v < vectors; v += block_vectors) {
    const std::int64_t width = std::min<std::int64_t>(block_vectors, vectors - v);
    for (std::int64_t k = 0; k < count; k += 4) {
      lane_rows<Sums::start_at_zero>(tile_keys.data + k, key_tile, dimensions, queries + 4 * v, row_tile,
                                     products + k * row_tile + 4 * v, row_tile, width);
    }
  }
#else
  namespace hn = hwy::HWY_NAMESPACE;
  const float* keys = tile_keys.data;
  const std::int64_t stride = tile_keys.stride;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(hn::ScalableTag<float>()));
  for (std::int64_t v = 0; v < vectors;) {
    const bool is_wide = v + block_vectors <= vectors;
    const float* query = queries + v * lanes;
    float* product = products + v * lanes;
    std::int64_t k = 0;
    for (; k + 4 <= count; k += 4) {
      if (is_wide) {
        dot_block<4, block_vectors>(keys + k * stride, stride, dimensions, query, product + k * row_tile);
      } else {
        dot_block<4, 1>(keys + k * stride, stride, dimensions, query, product + k * row_tile);
      }
    }
    for (; k < count; ++k) {
      if (is_wide) {
        dot_block<1, block_vectors>(keys + k * stride, stride, dimensions, query, product + k * row_tile);
      } else {
        dot_block<1, 1>(keys + k * stride, stride, dimensions, query, product + k * row_tile);
      }
    }
    v += is_wide ? block_vectors : 1;
  }
#endif
}

// A matrix of weights by its strides: the same product serves scores as they lie and transposed.
struct Weights {
  const float* data;
  std::int64_t row_stride;
  std::int64_t step;  // between neighbours of a row
};

// outputs[r][lane] += sum_k weights[r][k] values[k][lane], for Rows rows and Vectors vectors.
template <int Rows, int Vectors>
HWY_INLINE void mix_block(Weights weights, std::int64_t count, const float* values, std::int64_t value_stride,
                          float* outputs, std::int64_t output_stride) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  hn::Vec<decltype(d)> sums[Rows][Vectors];
#pragma GCC unroll 4
  for (int r = 0; r < Rows; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v) sums[r][v] = hn::LoadU(d, outputs + r * output_stride + v * lanes);
  }
  for (std::int64_t k = 0; k < count; ++k) {
    hn::Vec<decltype(d)> value[Vectors];
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v) value[v] = hn::LoadU(d, values + k * value_stride + v * lanes);
#pragma GCC unroll 4
    for (int r = 0; r < Rows; ++r) {
      const auto weight = hn::Set(d, weights.data[r * weights.row_stride + k * weights.step]);
#pragma GCC unroll 4
      for (int v = 0; v < Vectors; ++v) sums[r][v] = hn::MulAdd(weight, value[v], sums[r][v]);
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < Rows; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v) hn::StoreU(sums[r][v], d, outputs + r * output_stride + v * lanes);
  }
}

// The same for Rows rows of any number of vectors.
template <int Rows>
void mix_rows(Weights weights, std::int64_t count, const float* values, std::int64_t value_stride, float* outputs,
              std::int64_t output_stride, std::int64_t vectors) {
  namespace hn = hwy::HWY_NAMESPACE;
  if (count <= 0) return;
#if HWY_TARGET == HWY_NEON
  if (Rows == 4 && weights.row_stride == 1) {
    return lane_rows<Sums::go_on>(weights.data, weights.step, count, values, value_stride, outputs, output_stride,
                                  vectors);
  }
#endif
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(hn::ScalableTag<float>()));
  std::int64_t v = 0;
  for (; v + block_vectors <= vectors; v += block_vectors) {
    mix_block<Rows, block_vectors>(weights, count, values + v * lanes, value_stride, outputs + v * lanes,
                                   output_stride);
  }
  for (; v < vectors; ++v) {
    mix_block<Rows, 1>(weights, count, values + v * lanes, value_stride, outputs + v * lanes, output_stride);
  }
}

// Rows whose keys form a range each (relative to the tile), four at a time where their ranges overlap. A key outside of
// a row's range is not even multiplied by zero: it may hold anything.
inline void mix_ranges(Weights weights, const KeyRange* ranges, std::int64_t rows, const float* values,
                       std::int64_t value_stride, float* outputs, std::int64_t output_stride, std::int64_t vectors) {
  auto one = [&](std::int64_t row, KeyRange range) {
    mix_rows<1>({weights.data + row * weights.row_stride + range.begin * weights.step, 0, weights.step},
                range.end - range.begin, values + range.begin * value_stride, value_stride,
                outputs + row * output_stride, output_stride, vectors);
  };
  std::int64_t row = 0;
  for (; row + 4 <= rows; row += 4) {
    KeyRange shared = ranges[row];
    for (std::int64_t r = row + 1; r < row + 4; ++r) {
      shared.begin = std::max(shared.begin, ranges[r].begin);
      shared.end = std::min(shared.end, ranges[r].end);
    }
    if (shared.begin >= shared.end) {
      for (std::int64_t r = row; r < row + 4; ++r) one(r, ranges[r]);
      continue;
    }
    for (std::int64_t r = row; r < row + 4; ++r) one(r, {ranges[r].begin, shared.begin});
    mix_rows<4>(
        {weights.data + row * weights.row_stride + shared.begin * weights.step, weights.row_stride, weights.step},
        shared.end - shared.begin, values + shared.begin * value_stride, value_stride, outputs + row * output_stride,
        output_stride, vectors);
    for (std::int64_t r = row; r < row + 4; ++r) one(r, {shared.end, ranges[r].end});
  }
  for (; row < rows; ++row) one(row, ranges[row]);
}

}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggling guard
