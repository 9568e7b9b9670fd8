// Rows of f32 to halves at a scale of their own (half_rows.h), by vectors. Included after hwy/highway.h; the guard
// toggles with each target.
#if defined(INGOT_KERNELS_VECTOR_HALF_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_KERNELS_VECTOR_HALF_ROWS_INL_H_
#undef INGOT_KERNELS_VECTOR_HALF_ROWS_INL_H_
#else
#define INGOT_KERNELS_VECTOR_HALF_ROWS_INL_H_
#endif

#include "hwy/highway.h"
#include "kernels/vector/convert-inl.h"
#include "kernels/vector/half_rows.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {

// Magnitudes compare as their bits do.
inline float largest_finite_magnitude(const float* x, std::int64_t count) {
  namespace hn = hwy::HWY_NAMESPACE;
  const FloatTag d;
  const hn::RebindToSigned<FloatTag> bits_of;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  auto largest = hn::Zero(d);
  std::int64_t k = 0;
  for (; k + lanes <= count; k += lanes) {
    const auto magnitude = hn::Abs(hn::LoadU(d, x + k));
    const auto is_finite = hn::Lt(hn::BitCast(bits_of, magnitude), hn::Set(bits_of, 0x7f800000));
    largest = hn::Max(largest, hn::IfThenElseZero(hn::RebindMask(d, is_finite), magnitude));
  }
  float result = hn::GetLane(hn::MaxOfLanes(d, largest));
  for (; k < count; ++k) result = std::isfinite(x[k]) ? std::max(result, std::fabs(x[k])) : result;
  return result;
}

// halves[k] = x[k] scale.
inline void scale_to_halves(const float* x, float scale, Half* halves, std::int64_t count) {
  namespace hn = hwy::HWY_NAMESPACE;
  const FloatTag d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t k = 0;
  for (; k + lanes <= count; k += lanes) {
    store_from_float(hn::Mul(hn::LoadU(d, x + k), hn::Set(d, scale)), halves + k);
  }
  for (; k < count; ++k) halves[k] = Half(x[k] * scale);
}

}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggling guard
