// Attention with the online softmax: keys stream past a tile of queries, and a running maximum and sum stand for all
// keys so far. Included after hwy/highway.h; the guard toggles with each target.
#if defined(INGOT_KERNELS_ATTENTION_SDPA_STREAMING_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_KERNELS_ATTENTION_SDPA_STREAMING_INL_H_
#undef INGOT_KERNELS_ATTENTION_SDPA_STREAMING_INL_H_
#else
#define INGOT_KERNELS_ATTENTION_SDPA_STREAMING_INL_H_
#endif

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "hwy/highway.h"
#include "kernels/attention/rows-inl.h"
#include "kernels/attention/sdpa/scores-inl.h"
#include "kernels/attention/tiles-inl.h"
#include "kernels/attention/tiles.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {

struct Running {
  HWY_ALIGN float maximum[row_tile];
  HWY_ALIGN float sum[row_tile];
  HWY_ALIGN float decay[row_tile];  // what the last tile of keys left of everything before it
};

inline void start_running(const SdpaInputs& a, const RowTile& rows, Running& running) {
  for (std::int64_t r = 0; r < row_tile; ++r) {
    const float sink =
        is_present(a.sinks) && r < rows.count ? a.sinks(rows.head[r]) : -std::numeric_limits<float>::infinity();
    running.maximum[r] = sink;
    // A sink is a key already seen: e^(sink - sink), which is 1, or NaN for a sink that is no number.
    running.sum[r] = sink == -std::numeric_limits<float>::infinity() ? 0.0f : std::exp(sink - sink);
  }
}

// Scores of a vector of products, in place; returns the larger of them and the maximum so far.
template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE V score_keys(D d, const SdpaInputs& a, const TileBiases& biases, const float* mask, std::int64_t keys,
                        std::int64_t lane, float* weights, V maximum) {
  namespace hn = hwy::HWY_NAMESPACE;
  for (std::int64_t key = 0; key < keys; ++key) {
    float* at = weights + key * row_tile + lane;
    const auto score = score_of(d, hn::LoadU(d, at), a, biases, key, lane, mask);
    hn::StoreU(score, d, at);
    maximum = hn::Max(maximum, score);
  }
  return maximum;
}

// What products of Vectors vectors of rows become: weights e^(scale product - maximum). Several vectors at once,
// because an exponential is one long chain of dependent operations.
template <int Vectors, class D>
HWY_INLINE void weigh_keys(D d, const SdpaInputs& a, const TileBiases& biases, const float* mask, bool is_plain,
                           std::int64_t keys, std::int64_t first_lane, float* weights, Running& running) {
  namespace hn = hwy::HWY_NAMESPACE;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto lowest = hn::Set(d, -std::numeric_limits<float>::infinity());
  const auto scale = hn::Set(d, is_plain ? a.scale : 1.0f);
  float* column = weights + first_lane;
  hn::Vec<D> maximum[Vectors], taken[Vectors], sum[Vectors];
#pragma GCC unroll 4
  for (int v = 0; v < Vectors; ++v) {
    maximum[v] = hn::Load(d, running.maximum + first_lane + v * lanes);
    if (!is_plain) maximum[v] = score_keys(d, a, biases, mask, keys, first_lane + v * lanes, weights, maximum[v]);
  }
  for (std::int64_t key = 0; is_plain && key < keys; ++key) {
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v) {
      maximum[v] = hn::Max(maximum[v], hn::Mul(hn::LoadU(d, column + key * row_tile + v * lanes), scale));
    }
  }
#pragma GCC unroll 4
  for (int v = 0; v < Vectors; ++v) {
    const auto before = hn::Load(d, running.maximum + first_lane + v * lanes);
    taken[v] = hn::IfThenElse(hn::Eq(maximum[v], lowest), hn::Zero(d), maximum[v]);
    hn::Store(maximum[v], d, running.maximum + first_lane + v * lanes);
    hn::Store(brisk_exp_of_nonpositive(d, hn::Sub(before, taken[v])), d, running.decay + first_lane + v * lanes);
    sum[v] = hn::Zero(d);
  }
  for (std::int64_t key = 0; key < keys; ++key) {
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v) {
      float* at = column + key * row_tile + v * lanes;
      // The product is rounded as it was for the maximum: a fused one would leave its rounding error to the
      // exponential.
      const auto weight = brisk_exp_of_nonpositive(d, hn::Sub(hn::Mul(hn::LoadU(d, at), scale), taken[v]));
      hn::StoreU(weight, d, at);
      sum[v] = hn::Add(sum[v], weight);
    }
  }
#pragma GCC unroll 4
  for (int v = 0; v < Vectors; ++v) {
    const std::int64_t lane = first_lane + v * lanes;
    const auto decay = hn::Load(d, running.decay + lane);
    hn::Store(hn::MulAdd(hn::Load(d, running.sum + lane), decay, sum[v]), d, running.sum + lane);
  }
}

// Turns a tile of products into weights and moves the running values on.
inline void absorb_tile(const SdpaInputs& a, const TileBiases& biases, const float* mask, std::int64_t keys,
                        std::int64_t vectors, float* weights, Running& running) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  // Where scores are products times the scale and nothing else, they are not stored in between.
  const bool is_plain = a.softcap == 0 && !is_present(a.alibi_slopes) && mask == nullptr && !biases.is_ragged;
  std::int64_t v = 0;
  for (; v + block_vectors <= vectors; v += block_vectors) {
    weigh_keys<block_vectors>(d, a, biases, mask, is_plain, keys, v * lanes, weights, running);
  }
  for (; v < vectors; ++v) weigh_keys<1>(d, a, biases, mask, is_plain, keys, v * lanes, weights, running);
}

// The rows of a tile and all that is kept for them while keys stream past.
struct RowStream {
  RowTile rows;
  Running running;
  TileBiases biases;
};

// In scratch memory, of one worker.
struct TileMemory {
  float* queries;  // [strip][D][row_tile]
  float* weights;  // [key_tile][row_tile]
  float* mask;     // [key_tile][row_tile]
  float* values;   // [key_tile][padded Dv], where value rows are not whole vectors
  float* keys;     // [D][key_tile], where products take them turned over
  float* outputs;  // [strip][row_tile][padded Dv]

  TileMemory(float* start, std::int64_t dimensions, std::int64_t padded, std::int64_t strip)
      : queries(start),
        weights(queries + strip * dimensions * row_tile),
        mask(weights + key_tile * row_tile),
        values(mask + key_tile * row_tile),
        keys(values + key_tile * padded),
        outputs(keys + key_tile * dimensions) {}
};

// One tile of rows meets one tile of keys.
inline void meet_keys(const SdpaInputs& a, const View<const float>& mask, std::int64_t first, std::int64_t count,
                      WholeRows keys, WholeRows values, const float* queries, float* outputs, const TileMemory& memory,
                      RowStream& stream) {
  namespace hn = hwy::HWY_NAMESPACE;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(hn::ScalableTag<float>()));
  const RowTile& rows = stream.rows;
  const std::int64_t row_vectors = divide_rounding_up(rows.count, lanes);
  const std::int64_t padded = padded_width(a.value_dimensions());
  const std::int64_t value_vectors = divide_rounding_up(a.value_dimensions(), lanes);
  dot_tile(keys, count, a.dimensions(), queries, row_vectors, memory.weights);
  fill_ranges(a, rows, first, count, stream.biases);
  if (is_present(a.mask)) pack_mask(mask, rows, first, count, memory.mask);
  absorb_tile(a, stream.biases, is_present(a.mask) ? memory.mask : nullptr, count, row_vectors, memory.weights,
              stream.running);
  for (std::int64_t r = 0; r < rows.count; ++r) {
    const float decay = stream.running.decay[r];
    if (decay != 1.0f) scale_outputs(outputs + r * padded, value_vectors * lanes, decay);
  }
  mix_ranges({memory.weights, 1, row_tile}, stream.biases.ranges, rows.count, values.data, values.stride, outputs,
             padded, value_vectors);
}

// A strip of row tiles over all keys that their rows see: each tile of keys is fetched once for the strip.
// query_at(query) gives a row's query as it is to be multiplied, until the next call;
// keys_at(first, count) and values_at(first, count) give rows of whole vectors of the strip's key head;
// finish(rows, row, output, running) takes what came of each row.
template <class QueryAt, class KeysAt, class ValuesAt, class Finish>
void stream_keys(const SdpaInputs& a, const View<const float>& mask, std::span<RowStream> strip,
                 const TileMemory& memory, QueryAt query_at, KeysAt keys_at, ValuesAt values_at, Finish finish) {
  namespace hn = hwy::HWY_NAMESPACE;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(hn::ScalableTag<float>()));
  const std::int64_t padded = padded_width(a.value_dimensions());
  const std::int64_t value_vectors = divide_rounding_up(a.value_dimensions(), lanes);
  auto queries_of = [&](std::size_t tile) {
    return memory.queries + static_cast<std::int64_t>(tile) * a.dimensions() * row_tile;
  };
  auto outputs_of = [&](std::size_t tile) {
    return memory.outputs + static_cast<std::int64_t>(tile) * row_tile * padded;
  };
  KeyRange any = strip[0].rows.any;
  for (std::size_t tile = 0; tile < strip.size(); ++tile) {
    const RowTile& rows = strip[tile].rows;
    start_running(a, rows, strip[tile].running);
    fill_slopes(a, rows, strip[tile].biases);
    auto row_at = [&](std::int64_t r) { return query_at(&a.q(rows.batch, rows.head[r], rows.query[r], 0)); };
    pack_rows_at(a.dimensions(), rows, row_at, queries_of(tile));
    any = {std::min(any.begin, rows.any.begin), std::max(any.end, rows.any.end)};
  }
  std::fill_n(memory.outputs, static_cast<std::int64_t>(strip.size()) * row_tile * padded, 0.0f);
  for (std::int64_t first = any.begin; first < any.end; first += key_tile) {
    const std::int64_t count = std::min(key_tile, any.end - first);
    const WholeRows keys = keys_for_products(keys_at(first, count), count, a.dimensions(), memory.keys);
    const WholeRows values = values_at(first, count);
    for (std::size_t tile = 0; tile < strip.size(); ++tile) {
      const KeyRange seen = keys_within(strip[tile].rows.any, first, count);
      if (seen.begin >= seen.end) continue;
      meet_keys(a, mask, first, seen.end, keys, values, queries_of(tile), outputs_of(tile), memory, strip[tile]);
    }
  }
  for (std::size_t tile = 0; tile < strip.size(); ++tile) {
    const RowStream& stream = strip[tile];
    for (std::int64_t r = 0; r < stream.rows.count; ++r) {
      const float sum = stream.running.sum[r];
      float* output = outputs_of(tile) + r * padded;
      scale_outputs(output, value_vectors * lanes, sum == 0 ? 0.0f : 1.0f / sum);
      finish(stream.rows, r, output, stream.running);
    }
  }
}

}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggling guard
