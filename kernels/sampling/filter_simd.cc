// Vector filters. What is kept is always described by the last token that is: everything above it, and of its equals
// those at or before it.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "hwy/cache_control.h"
#include "kernels/sampling/filter.h"
#include "kernels/sampling/weight.h"
#include "kernels/vector/order_key.h"
#include "kernels/vector/simd_targets.h"
#include "kernels/vector/top_heap.h"
#include "tensor/rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/sampling/filter_simd.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/sampling/weight-inl.h"
#include "kernels/vector/stretch_map-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
constexpr float mask_value = -std::numeric_limits<float>::infinity();

struct DivideBy {
  float temperature;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V logits) const {
    return hn::Div(logits, hn::Set(d, temperature));
  }
};
// Comparisons with NaN are false, so NaN is never kept.
struct KeepFrom {
  float least;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V logits) const {
    return hn::IfThenElse(hn::Ge(logits, hn::Set(d, least)), logits, hn::Set(d, mask_value));
  }
};
struct KeepAbove {
  float least;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V logits) const {
    return hn::IfThenElse(hn::Gt(logits, hn::Set(d, least)), logits, hn::Set(d, mask_value));
  }
};
struct KeepWithin {
  float largest;
  float distance;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V logits) const {
    const auto top = hn::Set(d, largest);
    const auto near = hn::Ge(hn::Sub(logits, top), hn::Set(d, distance));
    return hn::IfThenElse(hn::Or(near, hn::Eq(logits, top)), logits, hn::Set(d, mask_value));
  }
};

void keep_up_to(const float* logits, float* y, std::int64_t tokens, std::int64_t last) {
  const float least = logits[last];
  map_stretch(KeepFrom{least}, y, last + 1, FromMemory{logits});
  map_stretch(KeepAbove{least}, y + last + 1, tokens - last - 1, FromMemory{logits + last + 1});
}

// Appends the tokens within `distance` of the largest logit, ranked, to the list; returns how many there are.
std::int64_t collect_candidates(const float* logits, std::int64_t tokens, float largest, float distance,
                                std::int64_t* list) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto top = hn::Set(d, largest);
  const auto limit = hn::Set(d, distance);
  std::int64_t count = 0;
  auto offer = [&](std::int64_t i) {
    if (logits[i] == largest || logits[i] - largest >= distance) {
      list[count++] = ranked(order_key<NaNOrder::least>(logits[i]), i);
    }
  };
  std::int64_t i = 0;
  for (; i + lanes <= tokens; i += lanes) {
    const auto values = hn::LoadU(d, logits + i);
    if (hn::AllFalse(d, hn::Or(hn::Ge(hn::Sub(values, top), limit), hn::Eq(values, top)))) continue;
    for (std::int64_t lane = 0; lane < lanes; ++lane) offer(i + lane);
  }
  for (; i < tokens; ++i) offer(i);
  return count;
}

// How far below the largest logit a band must reach to hold weights of at least `target`, at most a bin too far: tokens
// are counted in bins, and each is taken to weigh what the lower edge of its bin does.
float band_of_weight(const float* logits, std::int64_t tokens, float largest, double target) {
  constexpr int bins = 512;
  constexpr float bins_per_unit = 16;
  std::int32_t counts[bins] = {};
  for (std::int64_t i = 0; i < tokens; ++i) {
    const float below = logits[i] == largest ? 0 : (largest - logits[i]) * bins_per_unit;
    if (below < bins) ++counts[static_cast<int>(below)];  // false for NaN
  }
  double sum = 0;
  for (int bin = 0; bin < bins; ++bin) {
    const float edge = static_cast<float>(bin + 1) / bins_per_unit;
    sum += counts[bin] * std::exp(-double{edge});
    if (sum >= target) return -edge;
  }
  return mask_value;
}

// The last token of the nucleus. Few tokens carry most of the probability, so only a band below the largest logit is
// sorted. The band is an estimate that decides nothing: should it hold too little after all, everything is sorted.
std::int64_t end_of_nucleus(const float* logits, std::int64_t tokens, float largest, double target,
                            std::int64_t* list) {
  std::int64_t last = 0;
  for (float distance : {band_of_weight(logits, tokens, largest, target), mask_value}) {
    const std::int64_t count = collect_candidates(logits, tokens, largest, distance, list);
    std::sort(list, list + count, std::greater<>());
    double sum = 0;
    for (std::int64_t kept = 0; kept < count; ++kept) {
      last = index_of(list[kept]);
      sum += sampling::weight(logits[last], largest);
      if (sum >= target) return last;
    }
  }
  return last;
}

void top_p(const TopP::Arguments& arguments, Context& context) {
  const Rows logits(arguments.logits);
  const Rows y(arguments.y);
  const std::int64_t tokens = logits.length();
  const SoftmaxRows softmax = softmax_rows(logits, context);
  auto* lists = reinterpret_cast<std::int64_t*>(softmax.block_sums + logits.count() * softmax.blocks);
  context.workers.for_chunks(logits.count(), 1, [&](std::int64_t row, std::int64_t, int worker) {
    if (arguments.limit == 1 || !softmax.has_candidate(row)) {
      map_stretch(KeepFrom{mask_value}, y[row], tokens, FromMemory{logits[row]});
      return;
    }
    double total = 0;
    for (std::int64_t block = 0; block < softmax.blocks; ++block) {
      total += softmax.block_sums[row * softmax.blocks + block];
    }
    const float largest = logits[row][index_of(softmax.greatest[row])];
    const std::int64_t last =
        end_of_nucleus(logits[row], tokens, largest, arguments.limit * total, lists + worker * tokens);
    keep_up_to(logits[row], y[row], tokens, last);
  });
}

template <class Op>
void filter_row(const typename Op::Arguments& arguments, const float* logits, float* y, std::int64_t tokens,
                std::int64_t* heap_memory) {
  if constexpr (std::is_same_v<Op, Temperature>) {
    map_stretch(DivideBy{arguments.limit}, y, tokens, FromMemory{logits});
  } else if constexpr (std::is_same_v<Op, MinP>) {
    const std::int64_t greatest = greatest_ranked<NaNOrder::least>(logits, tokens, 0);
    map_stretch(KeepWithin{logits[index_of(greatest)], sampling::least_distance(arguments.limit)}, y, tokens,
                FromMemory{logits});
  } else if (arguments.limit >= tokens) {
    map_stretch(KeepFrom{mask_value}, y, tokens, FromMemory{logits});
  } else {
    TopHeap heap(heap_memory, arguments.limit);
    select_top<NaNOrder::least>(logits, tokens, 0, heap);
    const std::int64_t last = index_of(heap.least());
    // Where even NaN had to be counted among the k largest, nothing is too small to be kept.
    if (logits[last] != logits[last])
      map_stretch(KeepFrom{mask_value}, y, tokens, FromMemory{logits});
    else
      keep_up_to(logits, y, tokens, last);
  }
}

template <class Op>
void filter(const typename Op::Arguments& arguments, Context& context) {
  if constexpr (std::is_same_v<Op, TopP>) {
    top_p(arguments, context);
  } else {
    const Rows logits(arguments.logits);
    const Rows y(arguments.y);
    const std::int64_t tokens = logits.length();
    auto* memory = reinterpret_cast<std::int64_t*>(context.scratch.data());
    const std::int64_t heap_size =
        std::is_same_v<Op, SamplingTopK> ? std::min(static_cast<std::int64_t>(arguments.limit), tokens) : 0;
    context.workers.for_chunks(logits.count(), rows_per_chunk(8 * tokens),
                               [&](std::int64_t begin, std::int64_t end, int worker) {
                                 for (std::int64_t row = begin; row < end; ++row) {
                                   filter_row<Op>(arguments, logits[row], y[row], tokens, memory + worker * heap_size);
                                 }
                               });
  }
}

}  // namespace
}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot {

template <class Op>
const SimdEntries<Op>& filter_simd() {
  static const SimdEntries<Op> entries = INGOT_SIMD_ENTRIES(filter<Op>);
  return entries;
}
template const SimdEntries<Temperature>& filter_simd<Temperature>();
template const SimdEntries<SamplingTopK>& filter_simd<SamplingTopK>();
template const SimdEntries<TopP>& filter_simd<TopP>();
template const SimdEntries<MinP>& filter_simd<MinP>();

}  // namespace ingot
#endif
