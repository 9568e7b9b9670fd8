// Vector reductions: each piece of a row becomes one number, a double sum or a ranked maximum; pieces join in order.
#include <type_traits>

#include "hwy/cache_control.h"
#include "kernels/elementwise/reduce.h"
#include "kernels/vector/order_key.h"
#include "kernels/vector/simd_targets.h"
#include "kernels/vector/top_heap.h"
#include "tensor/rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/elementwise/reduce_simd.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/vector/order_key-inl.h"
#include "kernels/vector/stretch_map-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class Op>
constexpr bool is_sum = !std::is_same_v<Op, ReduceMax> && !std::is_same_v<Op, Argmax>;

// The product of two floats is exact in double, so a fused or separate multiply-add gives the same bits.
template <class Op, class V>
HWY_INLINE V accumulate(V sum, V value) {
  if constexpr (std::is_same_v<Op, ReduceSumOfSquares>)
    return hn::MulAdd(value, value, sum);
  else
    return hn::Add(sum, value);
}

// Widening to double costs a conversion a vector and no memory traffic, and makes the sum exact enough that no caller
// needs to ask how long the row is.
template <class Op>
double sum_of_stretch(const float* x, std::int64_t length) {
  const hn::ScalableTag<double> dd;
  const hn::Rebind<float, decltype(dd)> df;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(dd));
  auto sum0 = hn::Zero(dd);
  auto sum1 = hn::Zero(dd);
  auto sum2 = hn::Zero(dd);
  auto sum3 = hn::Zero(dd);
  std::int64_t i = 0;
  for (; i + 4 * lanes <= length; i += 4 * lanes) {
    sum0 = accumulate<Op>(sum0, hn::PromoteTo(dd, hn::LoadU(df, x + i)));
    sum1 = accumulate<Op>(sum1, hn::PromoteTo(dd, hn::LoadU(df, x + i + lanes)));
    sum2 = accumulate<Op>(sum2, hn::PromoteTo(dd, hn::LoadU(df, x + i + 2 * lanes)));
    sum3 = accumulate<Op>(sum3, hn::PromoteTo(dd, hn::LoadU(df, x + i + 3 * lanes)));
  }
  for (; i + lanes <= length; i += lanes) sum0 = accumulate<Op>(sum0, hn::PromoteTo(dd, hn::LoadU(df, x + i)));
  double sum = hn::GetLane(hn::SumOfLanes(dd, hn::Add(hn::Add(sum0, sum1), hn::Add(sum2, sum3))));
  for (; i < length; ++i) sum += std::is_same_v<Op, ReduceSumOfSquares> ? double{x[i]} * x[i] : x[i];
  return sum;
}

template <class Op>
HWY_INLINE auto reduce_stretch(const float* x, std::int64_t length, std::int64_t first) {
  if constexpr (is_sum<Op>)
    return sum_of_stretch<Op>(x + first, length);
  else
    return greatest_ranked<NaNOrder::greatest>(x + first, length, first);
}

template <class Op, class Partial>
HWY_INLINE void store_result(const typename Op::Arguments& arguments, const float* x, std::int64_t row,
                             std::int64_t length, Partial total) {
  if constexpr (std::is_same_v<Op, Argmax>)
    arguments.indices.data()[row] = static_cast<std::int32_t>(index_of(total));
  else if constexpr (std::is_same_v<Op, ReduceMax>)
    arguments.y.data()[row] = x[index_of(total)];
  else if constexpr (std::is_same_v<Op, ReduceMean>) {
    arguments.y.data()[row] = static_cast<float>(total / static_cast<double>(length));
  } else {
    arguments.y.data()[row] = static_cast<float>(total);
  }
}

template <class Op>
void reduce(const typename Op::Arguments& arguments, Context& context) {
  using Partial = std::conditional_t<is_sum<Op>, double, std::int64_t>;
  const Rows x(arguments.x);
  const std::int64_t length = x.length();
  const std::int64_t pieces = divide_rounding_up(length, elements_per_piece);
  if (pieces == 1) {
    const std::int64_t row_bytes = length * static_cast<std::int64_t>(sizeof(float));
    context.workers.for_chunks(x.count(), rows_per_chunk(row_bytes), [&](std::int64_t begin, std::int64_t end, int) {
      for (std::int64_t row = begin; row < end; ++row) {
        store_result<Op, Partial>(arguments, x[row], row, length, reduce_stretch<Op>(x[row], length, 0));
      }
    });
    return;
  }
  auto* partials = reinterpret_cast<Partial*>(context.scratch.data());
  context.workers.for_chunks(x.count() * pieces, 1, [&](std::int64_t item, std::int64_t, int) {
    const std::int64_t first = item % pieces * elements_per_piece;
    partials[item] = reduce_stretch<Op>(x[item / pieces], HWY_MIN(elements_per_piece, length - first), first);
  });
  for (std::int64_t row = 0; row < x.count(); ++row) {
    Partial total = partials[row * pieces];
    for (std::int64_t piece = 1; piece < pieces; ++piece) {
      const Partial next = partials[row * pieces + piece];
      if constexpr (is_sum<Op>)
        total += next;
      else
        total = HWY_MAX(total, next);
    }
    store_result<Op, Partial>(arguments, x[row], row, length, total);
  }
}

// 2 x dy: the product doubled, which overflows only where the result does.
struct TwiceProduct {
  template <class D, class V>
  HWY_INLINE V operator()(D, V x, V dy) const {
    const auto product = hn::Mul(x, dy);
    return hn::Add(product, product);
  }
};

template <class Op>
void reduce_backward(const typename Op::Arguments& arguments, Context& context) {
  const Rows dx(arguments.dx);
  const std::int64_t length = dx.length();
  const std::int64_t row_bytes = length * static_cast<std::int64_t>(2 * sizeof(float));
  context.workers.for_chunks(dx.count(), rows_per_chunk(row_bytes), [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t row = begin; row < end; ++row) {
      const float dy = arguments.dy.data()[row];
      if constexpr (std::is_same_v<Op, ReduceSumBackward>) {
        map_stretch(Identity{}, dx[row], length, Repeated{dy});
      } else if constexpr (std::is_same_v<Op, ReduceMeanBackward>) {
        const auto share = static_cast<float>(double{dy} / static_cast<double>(length));
        map_stretch(Identity{}, dx[row], length, Repeated{share});
      } else if constexpr (std::is_same_v<Op, ReduceSumOfSquaresBackward>) {
        map_stretch(TwiceProduct{}, dx[row], length, FromMemory{Rows(arguments.x)[row]}, Repeated{dy});
      } else {
        map_stretch(Identity{}, dx[row], length, Repeated{0});
        dx[row][index_of(greatest_ranked<NaNOrder::greatest>(Rows(arguments.x)[row], length, 0))] = dy;
      }
    }
  });
}

}  // namespace
}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot {

template <class Op>
const SimdEntries<Op>& reduce_simd() {
  static const SimdEntries<Op> entries = INGOT_SIMD_ENTRIES(reduce<Op>);
  return entries;
}
template <class Op>
const SimdEntries<Op>& reduce_backward_simd() {
  static const SimdEntries<Op> entries = INGOT_SIMD_ENTRIES(reduce_backward<Op>);
  return entries;
}
template const SimdEntries<ReduceSum>& reduce_simd<ReduceSum>();
template const SimdEntries<ReduceMean>& reduce_simd<ReduceMean>();
template const SimdEntries<ReduceSumOfSquares>& reduce_simd<ReduceSumOfSquares>();
template const SimdEntries<ReduceMax>& reduce_simd<ReduceMax>();
template const SimdEntries<Argmax>& reduce_simd<Argmax>();
template const SimdEntries<ReduceSumBackward>& reduce_backward_simd<ReduceSumBackward>();
template const SimdEntries<ReduceMeanBackward>& reduce_backward_simd<ReduceMeanBackward>();
template const SimdEntries<ReduceSumOfSquaresBackward>& reduce_backward_simd<ReduceSumOfSquaresBackward>();
template const SimdEntries<ReduceMaxBackward>& reduce_backward_simd<ReduceMaxBackward>();

}  // namespace ingot
#endif
