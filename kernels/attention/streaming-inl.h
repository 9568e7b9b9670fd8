// Attention with the online softmax: keys stream past a tile of queries, and a running maximum and sum stand for all
// keys so far. Included after hwy/highway.h; the guard toggles with each target.
#if defined(INGOT_KERNELS_ATTENTION_STREAMING_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_KERNELS_ATTENTION_STREAMING_INL_H_
#undef INGOT_KERNELS_ATTENTION_STREAMING_INL_H_
#else
#define INGOT_KERNELS_ATTENTION_STREAMING_INL_H_
#endif

#include <algorithm>
#include <cmath>
#include <limits>

#include "hwy/highway.h"
#include "kernels/attention/scores-inl.h"
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

// Turns a tile of products into weights e^(score - maximum) and moves the running values on.
inline void absorb_tile(const SdpaInputs& a, const TileBiases& biases, const float* mask, std::int64_t keys,
                        std::int64_t vectors, float* weights, Running& running) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto lowest = hn::Set(d, -std::numeric_limits<float>::infinity());
  for (std::int64_t lane = 0; lane < vectors * lanes; lane += lanes) {
    const auto before = hn::Load(d, running.maximum + lane);
    auto maximum = before;
    for (std::int64_t key = 0; key < keys; ++key) {
      float* at = weights + key * row_tile + lane;
      const auto score = score_of(d, hn::LoadU(d, at), a, biases, key, lane, mask);
      hn::StoreU(score, d, at);
      maximum = hn::Max(maximum, score);
    }
    const auto taken = hn::IfThenElse(hn::Eq(maximum, lowest), hn::Zero(d), maximum);
    const auto decay = exp_of_nonpositive(d, hn::Sub(before, taken));
    auto sum = hn::Zero(d);
    for (std::int64_t key = 0; key < keys; ++key) {
      float* at = weights + key * row_tile + lane;
      const auto weight = exp_of_nonpositive(d, hn::Sub(hn::LoadU(d, at), taken));
      hn::StoreU(weight, d, at);
      sum = hn::Add(sum, weight);
    }
    hn::Store(maximum, d, running.maximum + lane);
    hn::Store(decay, d, running.decay + lane);
    hn::Store(hn::MulAdd(hn::Load(d, running.sum + lane), decay, sum), d, running.sum + lane);
  }
}

inline void scale_outputs(float* row, std::int64_t width, float factor) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto by = hn::Set(d, factor);
  for (std::int64_t i = 0; i < width; i += lanes) hn::StoreU(hn::Mul(hn::LoadU(d, row + i), by), d, row + i);
}

// In scratch memory, of one worker.
struct TileMemory {
  float* queries;  // [D][row_tile]
  float* weights;  // [key_tile][row_tile]
  float* mask;     // [key_tile][row_tile]
  float* values;   // [key_tile][padded Dv], where value rows are not whole vectors
  float* outputs;  // [row_tile][padded Dv]

  TileMemory(float* start, std::int64_t dimensions, std::int64_t padded)
      : queries(start),
        weights(queries + dimensions * row_tile),
        mask(weights + key_tile * row_tile),
        values(mask + key_tile * row_tile),
        outputs(values + key_tile * padded) {}
};

// The rows of a tile over all keys that they see. keys_at(first, count) and values_at(first, count) give rows of whole
// vectors of the tile's key head; finish(row, output, running) takes what came of each row.
template <class KeysAt, class ValuesAt, class Finish>
void stream_keys(const SdpaInputs& a, const View<const float>& mask, const RowTile& rows, const TileMemory& memory,
                 KeysAt keys_at, ValuesAt values_at, Finish finish) {
  namespace hn = hwy::HWY_NAMESPACE;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(hn::ScalableTag<float>()));
  const std::int64_t row_vectors = divide_rounding_up(rows.count, lanes);
  const std::int64_t padded = padded_width(a.value_dimensions());
  const std::int64_t value_vectors = divide_rounding_up(a.value_dimensions(), lanes);
  Running running;
  TileBiases biases;
  start_running(a, rows, running);
  fill_slopes(a, rows, biases);
  pack_rows(a.q, rows, memory.queries);
  std::fill_n(memory.outputs, row_tile * padded, 0.0f);
  for (std::int64_t first = rows.any.begin; first < rows.any.end; first += key_tile) {
    const std::int64_t count = std::min(key_tile, rows.any.end - first);
    const WholeRows keys = keys_at(first, count);
    dot_tile(keys.data, keys.stride, count, a.dimensions(), memory.queries, row_vectors, memory.weights);
    fill_ranges(a, rows, first, count, biases);
    if (is_present(a.mask)) pack_mask(mask, rows, first, count, memory.mask);
    absorb_tile(a, biases, is_present(a.mask) ? memory.mask : nullptr, count, row_vectors, memory.weights, running);
    for (std::int64_t r = 0; r < rows.count; ++r) {
      if (running.decay[r] != 1.0f) scale_outputs(memory.outputs + r * padded, value_vectors * lanes, running.decay[r]);
    }
    const WholeRows values = values_at(first, count);
    mix_ranges({memory.weights, 1, row_tile}, biases.ranges, rows.count, values.data, values.stride, memory.outputs,
               padded, value_vectors);
  }
  for (std::int64_t r = 0; r < rows.count; ++r) {
    const float sum = running.sum[r];
    float* output = memory.outputs + r * padded;
    scale_outputs(output, value_vectors * lanes, sum == 0 ? 0.0f : 1.0f / sum);
    finish(r, output, running);
  }
}

}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggling guard
