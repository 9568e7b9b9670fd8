// Vector order keys (see order_key.h) and the scans built on them. Included inside a vector source after hwy/highway.h;
// the include guard toggles with each target, as Highway asks of such headers.
#if defined(INGOT_KERNELS_VECTOR_ORDER_KEY_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_KERNELS_VECTOR_ORDER_KEY_INL_H_
#undef INGOT_KERNELS_VECTOR_ORDER_KEY_INL_H_
#else
#define INGOT_KERNELS_VECTOR_ORDER_KEY_INL_H_
#endif

#include <limits>

#include "hwy/highway.h"
#include "kernels/vector/order_key.h"
#include "kernels/vector/top_heap.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {
namespace {

template <NaNOrder order, class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE auto order_keys(D d, V values) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::RebindToSigned<D> di;
  const auto bits = hn::BitCast(di, hn::Add(values, hn::Zero(d)));
  const auto keys = hn::Xor(bits, hn::And(hn::ShiftRight<31>(bits), hn::Set(di, 0x7fffffff)));
  const auto is_nan = hn::RebindMask(di, hn::IsNaN(values));
  return hn::IfThenElse(is_nan, hn::Set(di, order_key<order>(std::numeric_limits<float>::quiet_NaN())), keys);
}

// The greatest ranked element of a stretch whose first element has index `first`. Precondition: length > 0.
template <NaNOrder order>
HWY_INLINE std::int64_t greatest_ranked(const float* x, std::int64_t length, std::int64_t first) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> di;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int32_t greatest = order_key<order>(x[0]);
  std::int64_t i = 0;
  auto greatest0 = hn::Set(di, greatest);
  auto greatest1 = greatest0;
  for (; i + 2 * lanes <= length; i += 2 * lanes) {
    greatest0 = hn::Max(greatest0, order_keys<order>(d, hn::LoadU(d, x + i)));
    greatest1 = hn::Max(greatest1, order_keys<order>(d, hn::LoadU(d, x + i + lanes)));
  }
  greatest = hn::GetLane(hn::MaxOfLanes(di, hn::Max(greatest0, greatest1)));
  for (; i < length; ++i) greatest = HWY_MAX(greatest, order_key<order>(x[i]));
  // A second look for where it first stood; the stretch is in cache now.
  const auto wanted = hn::Set(di, greatest);
  for (i = 0; i + lanes <= length; i += lanes) {
    const std::intptr_t lane = hn::FindFirstTrue(di, hn::Eq(order_keys<order>(d, hn::LoadU(d, x + i)), wanted));
    if (lane >= 0) return ranked(greatest, first + i + lane);
  }
  while (order_key<order>(x[i]) != greatest) ++i;
  return ranked(greatest, first + i);
}

// Leaves the k = heap.size() greatest ranked elements of a row in the heap; `flip` is 0, or -1 to look for the least.
// A vector that holds nothing above the heap's least costs one comparison, so a long row is read at memory speed.
// Precondition: length >= heap.size().
template <NaNOrder order>
HWY_INLINE void select_top(const float* x, std::int64_t length, std::int32_t flip, TopHeap& heap) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> di;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i < heap.size(); ++i) heap.place(i, ranked(order_key<order>(x[i]) ^ flip, i));
  heap.order();
  const auto flips = hn::Set(di, flip);
  HWY_ALIGN std::int32_t keys[HWY_LANES(std::int32_t)];
  for (; i + lanes <= length; i += lanes) {
    const auto found = hn::Xor(order_keys<order>(d, hn::LoadU(d, x + i)), flips);
    if (hn::AllFalse(di, hn::Gt(found, hn::Set(di, key_of(heap.least()))))) continue;
    hn::Store(found, di, keys);
    for (std::int64_t lane = 0; lane < lanes; ++lane) heap.offer(ranked(keys[lane], i + lane));
  }
  for (; i < length; ++i) heap.offer(ranked(order_key<order>(x[i]) ^ flip, i));
}

}  // namespace
}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggling guard
