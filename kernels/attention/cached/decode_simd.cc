// Vector decode. A sequence's tokens are cut into splits, so that one long sequence keeps many threads busy; a split
// runs the online softmax over tiles of tokens, and splits are joined in order. Each token of the cache is read and
// converted once for all query heads of its group.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/attention/cached/decode.h"
#include "kernels/attention/cached/decode_plan.h"
#include "kernels/attention/tiles.h"
#include "kernels/vector/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention/cached/decode_simd.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/attention/cached/token_reader-inl.h"
#include "kernels/attention/rows-inl.h"
#include "kernels/vector/activation_codes-inl.h"
#include "kernels/vector/half_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
constexpr float minus_infinity = -std::numeric_limits<float>::infinity();

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

// Rows are padded with zeros, and loads of tokens leave them so. A head of padding asks for nothing.
void start_split(const Decode::Arguments& a, const DecodePlan& plan, const DecodeMemory& memory,
                 const Partial& partial) {
  std::fill_n(memory.queries, plan.room * plan.width, 0.0f);
  std::fill_n(memory.scores, plan.room * token_tile, 0.0f);
  clear_padding(memory.keys, token_tile, plan.width, a.q.size(2));
  clear_padding(memory.values, token_tile, plan.value_width, a.value_dimensions());
  std::fill_n(partial.outputs, plan.room * plan.value_width, 0.0f);
  std::fill_n(partial.maximum, plan.room, minus_infinity);
  std::fill_n(partial.sum, plan.room, 0.0f);
}

// A head's numbers to their places: `step` apart.
template <class Number>
void place_query(const Number* query, std::int64_t count, std::int64_t step, Number* to) {
  for (std::int64_t i = 0; i < count; ++i) to[i * step] = query[i];
}

// A head's query as codes, four to their place: heads are `together` to a row of codes. Scales stand behind.
void place_codes(const float* query, std::int64_t count, std::int64_t head, std::int64_t together, float* queries,
                 float* scales) {
  auto* to = reinterpret_cast<std::int8_t*>(queries) + 4 * head;
  std::int8_t codes[block_of_codes];
  for (std::int64_t first = 0; first < count; first += block_of_codes) {
    scales[first / block_of_codes * together + head] =
        encode_activations_vector(query + first, block_of_codes, codes, nullptr);
    for (std::int64_t i = 0; i < block_of_codes; i += 4) std::memcpy(to + (first + i) * together, codes + i, 4);
  }
}

// Queries of a group, as its products take them.
void copy_queries(const Decode::Arguments& a, const DecodePlan& plan, std::int64_t sequence, std::int64_t key_head,
                  HeadOrder order, QueryKind kind, const DecodeMemory& memory) {
  const std::int64_t count = a.q.size(2);
  const std::int64_t together = order == HeadOrder::quads ? quad : 1;
  const std::int64_t room = plan.width * together;
  for (std::int64_t g = 0; g < plan.head_group; ++g) {
    const float* query = &a.q(sequence, key_head * plan.head_group + g, 0);
    float* to = memory.queries + g / together * room;
    if (kind == QueryKind::codes) {
      place_codes(query, count, g % together, together, to, factors_behind(to, room));
    } else if (kind == QueryKind::halves) {
      auto* halves = reinterpret_cast<Half*>(memory.keys);
      const RowScale scale = half_row_scale(largest_finite_magnitude(query, count));
      scale_to_halves(query, scale.to_halves, halves, count);
      place_query(halves, count, together, reinterpret_cast<Half*>(to) + g % together);
      factors_behind(to, room)[g % together] = scale.from_halves;
    } else {
      place_query(rounded_query(a.k_pages.dtype(), query, count, memory.keys), count, together, to + g % together);
    }
  }
}

// Turns the scores of a tile, [head][token], into weights. The first token is `distance` positions before the query.
void weigh_rows(const Decode::Arguments& a, const DecodePlan& plan, std::int64_t key_head, std::int64_t distance,
                std::int64_t count, float* scores, const Partial& partial) {
  for (std::int64_t g = 0; g < plan.head_group; ++g) {
    float* row = scores + g * token_tile;
    const float slope = is_present(a.alibi_slopes) ? a.alibi_slopes(key_head * plan.head_group + g) : 0.0f;
    const float before = partial.maximum[g];
    const float maximum = std::max(before, finish_scores(a, slope, distance, count, row));
    const float taken = taken_out(maximum);
    const float sum = exponentials<Exponential::brisk>(row, row, count, taken);
    if (maximum != before) {
      const float decay = std::exp(before - taken);
      scale_outputs(partial.outputs + g * plan.value_width, plan.value_width, decay);
      partial.sum[g] *= decay;
      partial.maximum[g] = maximum;
    }
    partial.sum[g] += sum;
  }
}

void attend_split(const Decode::Arguments& a, const DecodePlan& plan, HeadOrder order, ProductWay way,
                  std::int64_t sequence, std::int64_t key_head, KeyRange positions, const DecodeMemory& memory,
                  const Partial& partial) {
  const ConstCacheView key_cache = a.keys();
  const ConstCacheView value_cache = a.values();
  const TokenReader key_reader = reader_of(a.k_pages.dtype(), a.q.size(2), order, way);
  const TokenReader value_reader = reader_of(a.v_pages.dtype(), a.value_dimensions(), order, way);
  const std::int64_t heads = order == HeadOrder::quads ? plan.room / quad : plan.padded_head_group;
  const std::int64_t query_position = a.lengths(sequence) - 1;
  // Rows are found two tiles before their use.
  struct {
    TokenRows tiles[3];
    TokenRows& operator[](std::int64_t tile) { return tiles[tile % 3]; }
  } keys, values;
  const std::int64_t tiles = divide_rounding_up(positions.end - positions.begin, token_tile);
  auto find = [&](const ConstCacheView& cache, auto& rows, std::int64_t tile) {
    if (tile >= tiles) return;
    const std::int64_t first = positions.begin + tile * token_tile;
    find_rows(cache, sequence, key_head, first, std::min(token_tile, positions.end - first), rows[tile]);
  };
  auto coming = [&](auto& rows, std::int64_t tile) -> ComingRows {
    return {rows[std::min(tile, tiles - 1)], rows[std::min(tile + 1, tiles - 1)]};
  };
  copy_queries(a, plan, sequence, key_head, order, key_reader.queries, memory);
  find(key_cache, keys, 0);
  find(key_cache, keys, 1);
  find(value_cache, values, 0);
  for (std::int64_t tile = 0; tile < tiles; ++tile) {
    find(key_cache, keys, tile + 2);
    find(value_cache, values, tile + 1);
    decode_tokens(key_reader, key_cache, memory.keys, plan.width, keys[tile]);
    key_reader.dot(memory.queries, heads, plan.width, keys[tile], coming(values, tile), memory.scores);
#if HWY_TARGET == HWY_NEON
    const auto weigh = order == HeadOrder::quads ? weigh_quads : weigh_rows;
#else
    const auto weigh = weigh_rows;
#endif
    const std::int64_t distance = query_position - positions.begin - tile * token_tile;
    weigh(a, plan, key_head, distance, keys[tile].count, memory.scores, partial);
    decode_tokens(value_reader, value_cache, memory.values, plan.value_width, values[tile]);
    value_reader.mix(memory.scores, heads, values[tile], coming(keys, tile + 1), partial.outputs, plan.value_width);
  }
}

// Joins the splits of one head that hold any tokens, in their order. They lie from partial `first` on.
void join_splits(const Decode::Arguments& a, const DecodePlan& plan, float* partials, std::int64_t first,
                 std::int64_t splits, std::int64_t g, float sink, float* y) {
  float maximum = sink;
  for (std::int64_t split = 0; split < splits; ++split) {
    maximum = std::max(maximum, Partial(partials, plan, first + split).maximum[g]);
  }
  const float taken = taken_out(maximum);
  float sum = std::exp(sink - taken);
  std::fill_n(y, a.value_dimensions(), 0.0f);
  for (std::int64_t split = 0; split < splits; ++split) {
    const Partial partial(partials, plan, first + split);
    const float share = std::exp(partial.maximum[g] - taken);
    sum += partial.sum[g] * share;
    const float* outputs = partial.outputs + g * plan.value_width;
    for (std::int64_t d = 0; d < a.value_dimensions(); ++d) y[d] += outputs[d] * share;
  }
  const float inverse = sum == 0 ? 0.0f : 1.0f / sum;
  for (std::int64_t d = 0; d < a.value_dimensions(); ++d) y[d] *= inverse;
}

// A sequence and a head of keys, with the heads of its group.
class DecodePair {
 public:
  // Sequences that follow each other are often tokens of one run: they find a head's keys in the cache.
  DecodePair(const Decode::Arguments& a, const DecodePlan& plan, std::int64_t pair)
      : a_(a), plan_(plan), sequence_(pair % a.sequences()), key_head_(pair / a.sequences()) {
    seen_ = a.positions_seen(a.lengths(sequence_) - 1);
    shares_ = plan.shares_of(seen_.end - seen_.begin);
  }

  std::int64_t splits() const { return shares_.count; }

  void attend(HeadOrder order, ProductWay way, std::int64_t split, const DecodeMemory& memory,
              const Partial& partial) const {
    KeyRange share;
    share.begin = seen_.begin + split * shares_.tokens;
    share.end = std::min(share.begin + shares_.tokens, seen_.end);
    start_split(a_, plan_, memory, partial);
    attend_split(a_, plan_, order, way, sequence_, key_head_, share, memory, partial);
  }

  // Partial `first` is that of the first split.
  void join(float* partials, std::int64_t first) const {
    for (std::int64_t g = 0; g < plan_.head_group; ++g) {
      const std::int64_t head = key_head_ * plan_.head_group + g;
      const float sink = is_present(a_.sinks) ? a_.sinks(head) : minus_infinity;
      join_splits(a_, plan_, partials, first, shares_.count, g, sink, &a_.y(sequence_, head, 0));
    }
  }

 private:
  const Decode::Arguments& a_;
  const DecodePlan& plan_;
  std::int64_t sequence_, key_head_;
  KeyRange seen_;
  DecodePlan::Shares shares_;
};

void decode_by(const Decode::Arguments& a, Context& context, ProductWay way) {
  if (a.y.empty()) return;
  const DecodePlan plan(a);
  // Two heads would leave half of each vector empty.
  const HeadOrder order = HWY_TARGET == HWY_NEON && plan.head_group > 2 ? HeadOrder::quads : HeadOrder::rows;
  auto* partials = reinterpret_cast<float*>(context.scratch.data());
  float* memory = partials + padded_width(plan.partials(context.workers.count()) * plan.partial_floats);
  auto memory_of = [&](int worker) { return DecodeMemory(memory + worker * plan.worker_floats, plan); };
  if (plan.has_pairs_enough) {
    context.workers.for_chunks(plan.pairs, 1, [&](std::int64_t index, std::int64_t, int worker) {
      const DecodePair pair(a, plan, index);
      const std::int64_t first = worker * plan.splits;
      for (std::int64_t split = 0; split < pair.splits(); ++split) {
        pair.attend(order, way, split, memory_of(worker), Partial(partials, plan, first + split));
      }
      pair.join(partials, first);
    });
    return;
  }
  context.workers.for_chunks(plan.pairs * plan.splits, 1, [&](std::int64_t task, std::int64_t, int worker) {
    const DecodePair pair(a, plan, task / plan.splits);
    const std::int64_t split = task % plan.splits;
    if (split < pair.splits()) pair.attend(order, way, split, memory_of(worker), Partial(partials, plan, task));
  });
  for (std::int64_t index = 0; index < plan.pairs; ++index) {
    DecodePair(a, plan, index).join(partials, index * plan.splits);
  }
}

void decode(const Decode::Arguments& a, Context& context) { decode_by(a, context, ProductWay::floats); }
#if HWY_TARGET == HWY_NEON
void decode_fhm(const Decode::Arguments& a, Context& context) { decode_by(a, context, ProductWay::halves); }
void decode_dotprod(const Decode::Arguments& a, Context& context) { decode_by(a, context, ProductWay::codes); }
#endif

}  // namespace
}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot {
const SimdEntries<Decode> decode_simd = INGOT_SIMD_ENTRIES(decode);
#if defined(__aarch64__)
const SimdEntries<Decode> decode_simd_fhm = {.neon = &N_NEON::decode_fhm};
const SimdEntries<Decode> decode_simd_dotprod = {.neon = &N_NEON::decode_dotprod};
#else
const SimdEntries<Decode> decode_simd_fhm = {};
const SimdEntries<Decode> decode_simd_dotprod = {};
#endif

std::size_t decode_scratch_bytes(const Decode::Arguments& a, int threads) {
  if (a.y.empty()) return 0;
  const DecodePlan plan(a);
  const std::int64_t floats = padded_width(plan.partials(threads) * plan.partial_floats) + threads * plan.worker_floats;
  return static_cast<std::size_t>(floats) * sizeof(float);
}
}  // namespace ingot
#endif
