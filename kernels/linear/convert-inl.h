// Stored numbers of plain types as floats. Included inside vector sources after hwy/highway.h.
#if defined(INGOT_KERNELS_LINEAR_CONVERT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_KERNELS_LINEAR_CONVERT_INL_H_
#undef INGOT_KERNELS_LINEAR_CONVERT_INL_H_
#else
#define INGOT_KERNELS_LINEAR_CONVERT_INL_H_
#endif

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// The next vector of floats out of stored elements.
template <class D>
HWY_INLINE hn::Vec<D> load_floats(D d, const float* from) {
  return hn::LoadU(d, from);
}
template <class D>
HWY_INLINE hn::Vec<D> load_floats(D d, const Half* from) {
#if HWY_TARGET == HWY_SSE4
  // No instruction converts, and Highway's substitute turns infinity and NaN into numbers. Exponent and fraction moved
  // to their places in a float are 2^112 too small, subnormals included; what then reaches 2^16 was not finite.
  const hn::Rebind<std::uint16_t, D> stored;
  const hn::Rebind<std::uint32_t, D> integers;
  const auto bits = hn::PromoteTo(integers, hn::LoadU(stored, reinterpret_cast<const std::uint16_t*>(from)));
  const auto sign = hn::ShiftLeft<16>(hn::And(bits, hn::Set(integers, 0x8000u)));
  const auto moved = hn::BitCast(d, hn::ShiftLeft<13>(hn::And(bits, hn::Set(integers, 0x7fffu))));
  const auto finite = hn::Mul(moved, hn::Set(d, 0x1p112f));
  const auto exponent = hn::BitCast(d, hn::Set(integers, 0x7f800000u));
  const auto special = hn::IfThenElseZero(hn::Ge(finite, hn::Set(d, 65536.0f)), exponent);
  return hn::Or(hn::Or(finite, special), hn::BitCast(d, sign));
#else
  const hn::Rebind<hwy::float16_t, D> stored;
  return hn::PromoteTo(d, hn::LoadU(stored, reinterpret_cast<const hwy::float16_t*>(from)));
#endif
}
template <class D>
HWY_INLINE hn::Vec<D> load_floats(D d, const BFloat16* from) {
  const hn::Rebind<hwy::bfloat16_t, D> stored;
  return hn::PromoteTo(d, hn::LoadU(stored, reinterpret_cast<const hwy::bfloat16_t*>(from)));
}

template <class Element>
void convert(const Element* from, float* to, std::int64_t count) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(load_floats(d, from + i), d, to + i);
  for (; i < count; ++i) to[i] = static_cast<float>(from[i]);
}

inline void copy_floats(const float* from, float* to, std::int64_t count) { convert(from, to, count); }

}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggling guard
