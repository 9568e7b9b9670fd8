// The direction of a step that is scaled by a root: what Adam and Adagrad spend their time on. Included inside a vector
// source after hwy/highway.h; the guard toggles with each target, as Highway asks of such headers.
#if defined(INGOT_KERNELS_OPTIMIZER_DIRECTION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_KERNELS_OPTIMIZER_DIRECTION_INL_H_
#undef INGOT_KERNELS_OPTIMIZER_DIRECTION_INL_H_
#else
#define INGOT_KERNELS_OPTIMIZER_DIRECTION_INL_H_
#endif

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {

// m / (root_scale sqrt(v) + epsilon). At most 2 epsilons.
template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE V direction_of(D d, V m, V v, float root_scale, float epsilon) {
  namespace hn = hwy::HWY_NAMESPACE;
#if HWY_TARGET == HWY_AVX3
  // 16 lanes wait some 40 cycles for a root and a quotient. 14-bit estimates with one Newton step each take a third of
  // that and lose nothing, as long as no intermediate leaves the normal range; else the plain instructions decide.
  const auto reciprocal_root = hn::ApproximateReciprocalSqrt(v);
  const auto estimate = hn::Mul(v, reciprocal_root);
  const auto remainder = hn::NegMulAdd(estimate, estimate, v);
  const auto root = hn::MulAdd(remainder, hn::Mul(hn::Set(d, 0.5f), reciprocal_root), estimate);
  const auto denominator = hn::MulAdd(root, hn::Set(d, root_scale), hn::Set(d, epsilon));
  const auto reciprocal = hn::ApproximateReciprocal(denominator);
  const auto first = hn::Mul(m, reciprocal);
  const auto quotient = hn::MulAdd(hn::NegMulAdd(denominator, first, m), reciprocal, first);
  const auto is_tame = hn::And(hn::Ge(v, hn::Set(d, 0x1p-80f)), hn::Le(v, hn::Set(d, 0x1p100f)));
  if (HWY_LIKELY(hn::AllTrue(d, hn::And(is_tame, hn::IsFinite(quotient))))) return quotient;
#endif
  return hn::Div(m, hn::MulAdd(hn::Sqrt(v), hn::Set(d, root_scale), hn::Set(d, epsilon)));
}

}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggling guard
