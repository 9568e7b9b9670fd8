// Vector decode. Two ways, by what the call holds:
//
// New tokens of a sequence that follow each other (a prompt) form a run: keys stream past tiles of 64 rows, the queries
// of the run in all heads of a group, as in whole-sequence attention.
//
// Single tokens: the sequence's tokens are cut into splits, so that one long sequence keeps many threads busy; a split
// runs the online softmax over tiles of tokens, and splits are joined in order. Each token of the cache is read and
// converted once for all query heads of its group.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/attention/decode.h"
#include "kernels/attention/decode_runs.h"
#include "kernels/attention/tiles.h"
#include "kernels/contract/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention/decode_simd.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/attention/rows-inl.h"
#include "kernels/attention/streaming-inl.h"
#include "kernels/attention/tiles-inl.h"
#include "kernels/cache/q8_0-inl.h"

#ifndef INGOT_KERNELS_ATTENTION_DECODE_PLAN
#define INGOT_KERNELS_ATTENTION_DECODE_PLAN
namespace ingot {
namespace {

constexpr std::int64_t token_tile = 32;
constexpr std::int64_t least_split = 512;  // tokens: below, a thread is not worth waking
constexpr std::int64_t enough_units = 64;  // of work, for as many threads

// How the call is cut and where its parts lie in scratch memory. From the shape alone.
struct DecodePlan {
  std::int64_t group, width, value_width, splits, units, partial_floats, worker_floats;

  explicit DecodePlan(const Decode::Arguments& a)
      : group(a.group()), width(padded_width(a.q.size(2))), value_width(padded_width(a.value_dimensions())) {
    const std::int64_t pairs = a.batches() * a.key_heads();
    splits =
        std::clamp<std::int64_t>(a.keys().capacity() / least_split, 1, std::max<std::int64_t>(enough_units / pairs, 1));
    units = pairs * splits;
    partial_floats = group * (value_width + 2);
    worker_floats = (group + token_tile) * width + token_tile * value_width + padded_width(group * token_tile);
  }
};

}  // namespace
}  // namespace ingot
#endif

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
constexpr float minus_infinity = -std::numeric_limits<float>::infinity();

// Reads one token of one head as floats.
using LoadToken = void (*)(const std::byte* from, float* to, std::int64_t width);

void load_f32(const std::byte* from, float* to, std::int64_t width) {
  std::memcpy(to, from, static_cast<std::size_t>(width) * sizeof(float));
}

void load_f16(const std::byte* from, float* to, std::int64_t width) {
  const auto* values = reinterpret_cast<const Half*>(from);
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(FloatTag()));
  std::int64_t i = 0;
  for (; i + lanes <= width; i += lanes) hn::StoreU(load_as_float(values + i), FloatTag(), to + i);
  for (; i < width; ++i) to[i] = static_cast<float>(values[i]);
}

void load_q8_0(const std::byte* from, float* to, std::int64_t width) {
  decode_q8_0_run(reinterpret_cast<const BlockQ8_0*>(from), to, width);
}

LoadToken load_of(DType dtype) { return dtype == DType::f32 ? load_f32 : dtype == DType::f16 ? load_f16 : load_q8_0; }

// scores[h][t] = queries[h] . keys[t]: Heads x Tokens sums at once, enough to hide the latency of an addition.
template <int Heads, int Tokens>
HWY_INLINE void dot_pairs(const float* queries, const float* keys, std::int64_t width, float* scores) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  hn::Vec<decltype(d)> sums[Heads][Tokens];
#pragma GCC unroll 4
  for (int h = 0; h < Heads; ++h) {
#pragma GCC unroll 4
    for (int t = 0; t < Tokens; ++t) sums[h][t] = hn::Zero(d);
  }
  for (std::int64_t i = 0; i < width; i += lanes) {
#pragma GCC unroll 4
    for (int h = 0; h < Heads; ++h) {
      const auto query = hn::Load(d, queries + h * width + i);
#pragma GCC unroll 4
      for (int t = 0; t < Tokens; ++t) sums[h][t] = hn::MulAdd(query, hn::Load(d, keys + t * width + i), sums[h][t]);
    }
  }
#pragma GCC unroll 4
  for (int h = 0; h < Heads; ++h) {
#pragma GCC unroll 4
    for (int t = 0; t < Tokens; ++t) scores[h * token_tile + t] = hn::GetLane(hn::SumOfLanes(d, sums[h][t]));
  }
}

// Tokens beyond the count are computed too (the tile is whole) and never looked at.
void dot_tokens(const float* queries, std::int64_t group, const float* keys, std::int64_t count, std::int64_t width,
                float* scores) {
  std::int64_t h = 0;
  for (; h + 4 <= group; h += 4) {
    for (std::int64_t t = 0; t < count; t += 2) {
      dot_pairs<4, 2>(queries + h * width, keys + t * width, width, scores + h * token_tile + t);
    }
  }
  for (; h < group; ++h) {
    for (std::int64_t t = 0; t < count; t += 4) {
      dot_pairs<1, 4>(queries + h * width, keys + t * width, width, scores + h * token_tile + t);
    }
  }
}

// Products to scores, in place; returns the largest. The first token is `distance` positions before the query.
float finish_scores(const Decode::Arguments& a, float slope, std::int64_t distance, std::int64_t count, float* scores) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  auto maximum = hn::Set(d, minus_infinity);
  for (std::int64_t i = 0; i < count; i += lanes) {
    auto score = hn::Mul(load_some(d, scores + i, count - i, 0.0f), hn::Set(d, a.scale));
    if (a.softcap > 0) {
      const auto cap = hn::Set(d, a.softcap);
      score = hn::Mul(cap, tanh_of(d, hn::Div(score, cap)));
    }
    const auto away = hn::Sub(hn::Set(d, static_cast<float>(distance - i)), hn::Iota(d, 0.0f));
    if (slope != 0) score = hn::NegMulAdd(hn::Set(d, slope), away, score);
    store_some(d, score, scores + i, count - i);
    if (count - i < lanes) {
      score = hn::IfThenElse(hn::FirstN(d, static_cast<std::size_t>(count - i)), score, hn::Set(d, minus_infinity));
    }
    maximum = hn::Max(maximum, score);
  }
  return hn::GetLane(hn::MaxOfLanes(d, maximum));
}

void clear_padding(float* rows, std::int64_t count, std::int64_t stride, std::int64_t width) {
  for (std::int64_t row = 0; row < count; ++row)
    std::fill(rows + row * stride + width, rows + (row + 1) * stride, 0.0f);
}

// A split's result for a group of heads: outputs [group][value_width], then a maximum and a sum for each head.
struct Partial {
  float* outputs;
  float* maximum;
  float* sum;

  Partial(float* partials, const DecodePlan& plan, std::int64_t unit)
      : outputs(partials + unit * plan.partial_floats),
        maximum(outputs + plan.group * plan.value_width),
        sum(maximum + plan.group) {}
};

void attend_split(const Decode::Arguments& a, const DecodePlan& plan, std::int64_t sequence, std::int64_t key_head,
                  KeyRange positions, float* memory, const Partial& partial) {
  const ConstCacheView key_cache = a.keys();
  const ConstCacheView value_cache = a.values();
  const LoadToken load_key = load_of(a.k_pages.dtype());
  const LoadToken load_value = load_of(a.v_pages.dtype());
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(hn::ScalableTag<float>()));
  const std::int64_t value_vectors = divide_rounding_up(a.value_dimensions(), lanes);
  float* queries = memory;
  float* keys = queries + plan.group * plan.width;
  float* values = keys + token_tile * plan.width;
  float* scores = values + token_tile * plan.value_width;
  // Rows are padded with zeros, and loads of tokens leave them so.
  clear_padding(queries, plan.group + token_tile, plan.width, a.q.size(2));
  clear_padding(values, token_tile, plan.value_width, a.value_dimensions());
  for (std::int64_t g = 0; g < plan.group; ++g) {
    std::copy_n(&a.q(sequence, key_head * plan.group + g, 0), a.q.size(2), queries + g * plan.width);
    partial.maximum[g] = minus_infinity;
    partial.sum[g] = 0;
  }
  std::fill_n(partial.outputs, plan.group * plan.value_width, 0.0f);
  const std::int64_t query_position = a.lengths(sequence) - 1;
  for (std::int64_t first = positions.begin; first < positions.end; first += token_tile) {
    const std::int64_t count = std::min(token_tile, positions.end - first);
    for (std::int64_t t = 0; t < count; ++t) {
      const CacheSlot slot = key_cache.slot(sequence, first + t);
      load_key(key_cache.row(slot, key_head), keys + t * plan.width, a.q.size(2));
      load_value(value_cache.row(slot, key_head), values + t * plan.value_width, a.value_dimensions());
    }
    dot_tokens(queries, plan.group, keys, count, plan.width, scores);
    for (std::int64_t g = 0; g < plan.group; ++g) {
      float* row = scores + g * token_tile;
      const float slope = is_present(a.alibi_slopes) ? a.alibi_slopes(key_head * plan.group + g) : 0.0f;
      const float maximum = std::max(partial.maximum[g], finish_scores(a, slope, query_position - first, count, row));
      const float taken = taken_out(maximum);
      const float decay = std::exp(partial.maximum[g] - taken);
      partial.sum[g] = partial.sum[g] * decay + exponentials(row, row, count, taken);
      partial.maximum[g] = maximum;
      if (decay != 1.0f) scale_outputs(partial.outputs + g * plan.value_width, value_vectors * lanes, decay);
    }
    std::int64_t g = 0;
    for (; g + 4 <= plan.group; g += 4) {
      mix_rows<4>({scores + g * token_tile, token_tile, 1}, count, values, plan.value_width,
                  partial.outputs + g * plan.value_width, plan.value_width, value_vectors);
    }
    for (; g < plan.group; ++g) {
      mix_rows<1>({scores + g * token_tile, token_tile, 1}, count, values, plan.value_width,
                  partial.outputs + g * plan.value_width, plan.value_width, value_vectors);
    }
  }
}

// Joins the splits of one head, in their order.
void join_splits(const Decode::Arguments& a, const DecodePlan& plan, float* partials, std::int64_t first_unit,
                 std::int64_t g, float sink, float* y) {
  float maximum = sink;
  for (std::int64_t split = 0; split < plan.splits; ++split) {
    maximum = std::max(maximum, Partial(partials, plan, first_unit + split).maximum[g]);
  }
  const float taken = taken_out(maximum);
  float sum = std::exp(sink - taken);
  std::fill_n(y, a.value_dimensions(), 0.0f);
  for (std::int64_t split = 0; split < plan.splits; ++split) {
    const Partial partial(partials, plan, first_unit + split);
    const float share = std::exp(partial.maximum[g] - taken);
    sum += partial.sum[g] * share;
    const float* outputs = partial.outputs + g * plan.value_width;
    for (std::int64_t d = 0; d < a.value_dimensions(); ++d) y[d] += outputs[d] * share;
  }
  const float inverse = sum == 0 ? 0.0f : 1.0f / sum;
  for (std::int64_t d = 0; d < a.value_dimensions(); ++d) y[d] *= inverse;
}

// One tile of a run's rows.
void attend_run_tile(const Decode::Arguments& a, const DecodeRun& run, std::int64_t key_head, std::int64_t tile,
                     float* memory) {
  const SdpaInputs inputs = inputs_of(a, run);
  RowTile rows;
  fill_row_tile(inputs, 0, key_head, tile, rows);
  const std::int64_t key_width = padded_width(inputs.dimensions());
  const std::int64_t value_width = padded_width(inputs.value_dimensions());
  float* keys = memory;
  const TileMemory tile_memory(keys + key_tile * key_width, inputs.dimensions(), value_width);
  // Padding is zero, and loads of tokens leave it so.
  clear_padding(keys, key_tile, key_width, inputs.dimensions());
  clear_padding(tile_memory.values, key_tile, value_width, inputs.value_dimensions());
  auto load = [&](const ConstCacheView& cache, LoadToken load_token, std::int64_t first, std::int64_t count, float* to,
                  std::int64_t width) -> WholeRows {
    for (std::int64_t t = 0; t < count; ++t) {
      load_token(cache.row(cache.slot(run.last(), first + t), key_head), to + t * width, cache.width());
    }
    return {to, width};
  };
  const ConstCacheView key_cache = a.keys();
  const ConstCacheView value_cache = a.values();
  auto keys_at = [&](std::int64_t first, std::int64_t count) {
    return load(key_cache, load_of(a.k_pages.dtype()), first, count, keys, key_width);
  };
  auto values_at = [&](std::int64_t first, std::int64_t count) {
    return load(value_cache, load_of(a.v_pages.dtype()), first, count, tile_memory.values, value_width);
  };
  stream_keys(inputs, {}, rows, tile_memory, keys_at, values_at,
              [&](std::int64_t r, const float* output, const Running&) {
                std::copy_n(output, inputs.value_dimensions(), &a.y(run.first + rows.query[r], rows.head[r], 0));
              });
}

void decode_runs(const Decode::Arguments& a, Context& context, const DecodeRuns& runs) {
  float* memory = runs.worker_memory(context.scratch);
  context.workers.for_chunks(runs.units(), 1, [&](std::int64_t begin, std::int64_t end, int worker) {
    for (std::int64_t unit = begin; unit < end; ++unit) {
      const DecodeRun& run = runs.run_of(unit);
      const std::int64_t within = unit - run.first_unit;
      attend_run_tile(a, run, within % a.key_heads(), within / a.key_heads(), memory + worker * run_worker_floats(a));
    }
  });
}

void decode(const Decode::Arguments& a, Context& context) {
  if (a.y.empty()) return;
  const DecodeRuns runs(a, context.scratch);
  if (runs.are_long()) return decode_runs(a, context, runs);
  const DecodePlan plan(a);
  auto* partials = reinterpret_cast<float*>(context.scratch.data());
  float* memory = partials + padded_width(plan.units * plan.partial_floats);
  context.workers.for_chunks(plan.units, 1, [&](std::int64_t begin, std::int64_t end, int worker) {
    for (std::int64_t unit = begin; unit < end; ++unit) {
      const std::int64_t sequence = unit / plan.splits / a.key_heads();
      const KeyRange seen = a.positions_of(sequence);
      // Equal shares in whole tiles; the last may be short or empty.
      const std::int64_t tiles = divide_rounding_up(divide_rounding_up(seen.end - seen.begin, token_tile), plan.splits);
      KeyRange share;
      share.begin = std::min(seen.begin + unit % plan.splits * tiles * token_tile, seen.end);
      share.end = std::min(share.begin + tiles * token_tile, seen.end);
      attend_split(a, plan, sequence, unit / plan.splits % a.key_heads(), share, memory + worker * plan.worker_floats,
                   Partial(partials, plan, unit));
    }
  });
  for (std::int64_t b = 0; b < a.batches(); ++b) {
    for (std::int64_t h = 0; h < a.heads(); ++h) {
      const std::int64_t first_unit = (b * a.key_heads() + h / plan.group) * plan.splits;
      const float sink = is_present(a.sinks) ? a.sinks(h) : minus_infinity;
      join_splits(a, plan, partials, first_unit, h % plan.group, sink, &a.y(b, h, 0));
    }
  }
}

}  // namespace
}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot {
const SimdEntries<Decode> decode_simd = INGOT_SIMD_ENTRIES(decode);

std::size_t decode_scratch_bytes(const Decode::Arguments& a, int threads) {
  if (a.y.empty()) return 0;
  const DecodePlan plan(a);
  const std::int64_t floats = padded_width(plan.units * plan.partial_floats) + threads * plan.worker_floats;
  return std::max(static_cast<std::size_t>(floats) * sizeof(float), run_scratch_bytes(a, threads));
}
}  // namespace ingot
#endif
