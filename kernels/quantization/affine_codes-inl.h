// affine_code.h in vectors, the same to the bit. Included inside a vector source after hwy/highway.h; the include
// guard toggles with each target, as Highway asks of such headers.
#if defined(INGOT_KERNELS_QUANTIZATION_AFFINE_CODES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_KERNELS_QUANTIZATION_AFFINE_CODES_INL_H_
#undef INGOT_KERNELS_QUANTIZATION_AFFINE_CODES_INL_H_
#else
#define INGOT_KERNELS_QUANTIZATION_AFFINE_CODES_INL_H_
#endif

#include "hwy/highway.h"
#include "kernels/quantization/affine_codes.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {

template <class Code, class D, class V, class VI>
HWY_INLINE void store_affine_codes(D d, V x, V scale, VI zero_point, Code* y) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::Rebind<Code, D> d8;
  auto quotient = hn::Div(x, scale);
  quotient = hn::IfThenElse(hn::IsNaN(quotient), hn::Zero(d), quotient);
  quotient = hn::Max(hn::Min(quotient, hn::Set(d, largest_quotient)), hn::Set(d, -largest_quotient));
  hn::StoreU(hn::DemoteTo(d8, hn::Add(hn::NearestInt(quotient), zero_point)), d8, y);
}

template <class Code, class D, class V, class VI>
HWY_INLINE V load_affine_values(D d, const Code* x, V scale, VI zero_point) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::RebindToSigned<D> di;
  const hn::Rebind<Code, D> d8;
  return hn::Mul(hn::ConvertTo(d, hn::Sub(hn::PromoteTo(di, hn::LoadU(d8, x)), zero_point)), scale);
}

// One scale and zero point for a stretch of elements.
template <class Code>
HWY_INLINE void quantize_stretch(const float* x, float scale, int zero_point, Code* y, std::int64_t length) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> di;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto scales = hn::Set(d, scale);
  const auto zero_points = hn::Set(di, zero_point);
  std::int64_t i = 0;
  for (; i + lanes <= length; i += lanes) store_affine_codes<Code>(d, hn::LoadU(d, x + i), scales, zero_points, y + i);
  for (; i < length; ++i) y[i] = affine_code<Code>(x[i], scale, zero_point);
}

template <class Code>
HWY_INLINE void dequantize_stretch(const Code* x, float scale, int zero_point, float* y, std::int64_t length) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> di;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto scales = hn::Set(d, scale);
  const auto zero_points = hn::Set(di, zero_point);
  std::int64_t i = 0;
  for (; i + lanes <= length; i += lanes) hn::StoreU(load_affine_values(d, x + i, scales, zero_points), d, y + i);
  for (; i < length; ++i) y[i] = affine_value(x[i], scale, zero_point);
}

}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggling guard
