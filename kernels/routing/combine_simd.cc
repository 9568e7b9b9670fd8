// Vector sums over a token's slots. A token's rows are read once and its sum written once: four vectors of columns at a
// time, over all slots. The backward of routing.gather is the same sum with every weight 1.
// Short loops over arrays of vectors are unrolled by name: GCC at -O2 would keep the arrays in memory.
#include "kernels/routing/combine.h"
#include "kernels/routing/gather.h"
#include "kernels/routing/permutation.h"
#include "kernels/vector/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/routing/combine_simd.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// One token: where its slots' rows are, and what they weigh.
struct TokenSlots {
  View<const float> rows;
  const std::int32_t* slots;
  std::int64_t count;
  const float* weights;  // null: all 1
  std::int64_t weight_stride;
};

// Sums columns in steps of `parts` vectors as far as they fit. Returns the first column left.
template <int parts, class D>
std::int64_t sum_columns(D d, const TokenSlots& token, float* y, std::int64_t column, std::int64_t width) {
  using V = hn::Vec<D>;
  constexpr auto lanes = static_cast<std::int64_t>(hn::MaxLanes(D()));
  for (; column + parts * lanes <= width; column += parts * lanes) {
    V sum[parts];
#pragma GCC unroll 4
    for (int part = 0; part < parts; ++part) sum[part] = hn::Zero(d);
    for (std::int64_t j = 0; j < token.count; ++j) {
      const float* row = token.rows.data() + token.slots[j] * token.rows.stride(0) + column;
      const V weight = hn::Set(d, token.weights == nullptr ? 1.0f : token.weights[j * token.weight_stride]);
#pragma GCC unroll 4
      for (int part = 0; part < parts; ++part) {
        sum[part] = hn::MulAdd(weight, hn::LoadU(d, row + part * lanes), sum[part]);
      }
    }
#pragma GCC unroll 4
    for (int part = 0; part < parts; ++part) hn::StoreU(sum[part], d, y + column + part * lanes);
  }
  return column;
}

void sum_slots(const TokenSlots& token, float* y, std::int64_t width) {
  const hn::ScalableTag<float> d;
  std::int64_t column = sum_columns<4>(d, token, y, 0, width);
  column = sum_columns<1>(d, token, y, column, width);
  sum_columns<1>(hn::CappedTag<float, 1>(), token, y, column, width);
}

void combine(const RoutingCombine::Arguments& a, Context& context) {
  if (a.y.empty()) return;
  const std::span<const std::int32_t> slot_of = inverse_in(context.scratch, a.permutation);
  const std::int64_t per_token = a.weights.size(1);
  const std::int64_t width = a.y.size(1);
  const std::int64_t token_bytes = width * (per_token + 1) * static_cast<std::int64_t>(sizeof(float));
  context.workers.for_chunks(a.y.size(0), rows_per_chunk(token_bytes), [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t token = begin; token < end; ++token) {
      sum_slots({a.x, slot_of.data() + token * per_token, per_token, &a.weights(token, 0), a.weights.stride(1)},
                &a.y(token, 0), width);
    }
  });
}

void gather_backward(const RoutingGatherBackward::Arguments& a, Context& context) {
  if (a.dx.empty()) return;
  const std::span<const std::int32_t> slot_of = inverse_in(context.scratch, a.permutation);
  const std::int64_t per_token = a.permutation.size(0) / a.dx.size(0);
  const std::int64_t width = a.dx.size(1);
  const std::int64_t token_bytes = width * (per_token + 1) * static_cast<std::int64_t>(sizeof(float));
  context.workers.for_chunks(a.dx.size(0), rows_per_chunk(token_bytes), [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t token = begin; token < end; ++token) {
      sum_slots({a.dy, slot_of.data() + token * per_token, per_token, nullptr, 0}, &a.dx(token, 0), width);
    }
  });
}

// dx = weight dy over the columns [column, width) as far as D's lanes fit; adds <dy, x> to dot.
template <class D>
std::int64_t spread_columns(D d, const float* x, const float* dy, float weight, float* dx, std::int64_t column,
                            std::int64_t width, float& dot) {
  using V = hn::Vec<D>;
  constexpr auto lanes = static_cast<std::int64_t>(hn::MaxLanes(D()));
  const V factor = hn::Set(d, weight);
  V even = hn::Zero(d);
  V odd = hn::Zero(d);
  auto step = [&](std::int64_t at, V& sum) {
    const V gradient = hn::LoadU(d, dy + at);
    hn::StoreU(hn::Mul(factor, gradient), d, dx + at);
    sum = hn::MulAdd(gradient, hn::LoadU(d, x + at), sum);
  };
  for (; column + 2 * lanes <= width; column += 2 * lanes) {
    step(column, even);
    step(column + lanes, odd);
  }
  for (; column + lanes <= width; column += lanes) step(column, even);
  dot += hn::GetLane(hn::SumOfLanes(d, hn::Add(even, odd)));
  return column;
}

// dx = weight dy; gives <dy, x>.
float spread_row(const float* x, const float* dy, float weight, float* dx, std::int64_t width) {
  float dot = 0;
  const std::int64_t done = spread_columns(hn::ScalableTag<float>(), x, dy, weight, dx, 0, width, dot);
  spread_columns(hn::CappedTag<float, 1>(), x, dy, weight, dx, done, width, dot);
  return dot;
}

void combine_backward(const RoutingCombineBackward::Arguments& a, Context& context) {
  const std::int64_t slots = a.x.size(0);
  const std::int64_t width = a.x.size(1);
  if (slots == 0) return;
  const std::int64_t per_token = a.weights.size(1);
  const std::int64_t slot_bytes = 3 * width * static_cast<std::int64_t>(sizeof(float));
  context.workers.for_chunks(slots, rows_per_chunk(slot_bytes), [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t slot = begin; slot < end; ++slot) {
      const std::int64_t token = a.permutation(slot) / per_token;
      const std::int64_t j = a.permutation(slot) % per_token;
      const float weight = a.weights(token, j);
      a.dweights(token, j) =
          width == 0 ? 0.0f : spread_row(&a.x(slot, 0), &a.dy(token, 0), weight, &a.dx(slot, 0), width);
    }
  });
}

}  // namespace
}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot {
const SimdEntries<RoutingCombine> routing_combine_simd = INGOT_SIMD_ENTRIES(combine);
const SimdEntries<RoutingCombineBackward> routing_combine_backward_simd = INGOT_SIMD_ENTRIES(combine_backward);
const SimdEntries<RoutingGatherBackward> routing_gather_backward_simd = INGOT_SIMD_ENTRIES(gather_backward);
}  // namespace ingot
#endif
