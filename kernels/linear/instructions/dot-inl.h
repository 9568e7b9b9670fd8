// A float dot product, one source for every target; the include guard toggles with each target.
#if defined(INGOT_KERNELS_LINEAR_INSTRUCTIONS_DOT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_KERNELS_LINEAR_INSTRUCTIONS_DOT_INL_H_
#undef INGOT_KERNELS_LINEAR_INSTRUCTIONS_DOT_INL_H_
#else
#define INGOT_KERNELS_LINEAR_INSTRUCTIONS_DOT_INL_H_
#endif

#include <cstdint>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {

// Four accumulators hide the multiply-add's latency; they are joined in a fixed order.
HWY_INLINE float dot(const float* a, const float* b, std::int64_t length) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  auto sum0 = hn::Zero(d), sum1 = hn::Zero(d), sum2 = hn::Zero(d), sum3 = hn::Zero(d);
  std::int64_t i = 0;
  for (; i + 4 * lanes <= length; i += 4 * lanes) {
    sum0 = hn::MulAdd(hn::LoadU(d, a + i), hn::LoadU(d, b + i), sum0);
    sum1 = hn::MulAdd(hn::LoadU(d, a + i + lanes), hn::LoadU(d, b + i + lanes), sum1);
    sum2 = hn::MulAdd(hn::LoadU(d, a + i + 2 * lanes), hn::LoadU(d, b + i + 2 * lanes), sum2);
    sum3 = hn::MulAdd(hn::LoadU(d, a + i + 3 * lanes), hn::LoadU(d, b + i + 3 * lanes), sum3);
  }
  for (; i + lanes <= length; i += lanes) sum0 = hn::MulAdd(hn::LoadU(d, a + i), hn::LoadU(d, b + i), sum0);
  float sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(sum0, sum1), hn::Add(sum2, sum3))));
  for (; i < length; ++i) sum += a[i] * b[i];
  return sum;
}

// y[i] += factor x[i]
HWY_INLINE void add_scaled(float factor, const float* x, float* y, std::int64_t length) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto scale = hn::Set(d, factor);
  std::int64_t i = 0;
  for (; i + lanes <= length; i += lanes) {
    hn::StoreU(hn::MulAdd(scale, hn::LoadU(d, x + i), hn::LoadU(d, y + i)), d, y + i);
  }
  for (; i < length; ++i) y[i] += factor * x[i];
}

}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggling guard
