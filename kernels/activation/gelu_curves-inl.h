// The vector forms of gelu_curves.h.
#if defined(INGOT_KERNELS_ACTIVATION_GELU_CURVES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_KERNELS_ACTIVATION_GELU_CURVES_INL_H_
#undef INGOT_KERNELS_ACTIVATION_GELU_CURVES_INL_H_
#else
#define INGOT_KERNELS_ACTIVATION_GELU_CURVES_INL_H_
#endif

#include "kernels/activation/gelu_curves.h"
#include "kernels/activation/unary_activation-inl.h"
#include "kernels/vector/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {

template <>
struct VectorCurve<Gelu> {
  explicit VectorCurve(const Gelu::Parameters&) {}

  template <class D, class V>
  HWY_INLINE V value(D d, V x) const {
    namespace hn = hwy::HWY_NAMESPACE;
    // max(x, 0) - |x| Phi(-|x|): x Phi(x) on both sides of zero, without a choice.
    const NormalTail<D> normal(d, x);
    return hn::NegMulAdd(normal.magnitude, normal.tail, at_least(d, x, 0.0f));
  }
  template <class D, class V>
  HWY_INLINE V derivative(D d, V x) const {
    namespace hn = hwy::HWY_NAMESPACE;
    const NormalTail<D> normal(d, x);
    const auto one = hn::Set(d, 1.0f);
    const auto below = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), normal.tail, hn::Sub(one, normal.tail));
    return hn::MulAdd(x, normal.density, below);
  }
};

template <>
struct VectorCurve<GeluTanh> {
  explicit VectorCurve(const GeluTanh::Parameters&) {}
  static constexpr auto linear = static_cast<float>(GeluTanh::twice_root);

  template <class D, class V>
  HWY_INLINE static V bound(D d, V x) {
    constexpr auto largest = static_cast<float>(GeluTanh::largest);
    return at_most(d, at_least(d, x, -largest), largest);
  }
  template <class D, class V>
  HWY_INLINE static V argument(D d, V x) {
    namespace hn = hwy::HWY_NAMESPACE;
    constexpr auto cubic = static_cast<float>(GeluTanh::twice_root * GeluTanh::cubic);
    return hn::Mul(x, hn::MulAdd(hn::Mul(x, x), hn::Set(d, cubic), hn::Set(d, linear)));
  }

  template <class D, class V>
  HWY_INLINE V value(D d, V x) const {
    return times_sigmoid_of(d, x, argument(d, bound(d, x)));
  }
  template <class D, class V>
  HWY_INLINE V derivative(D d, V x) const {
    namespace hn = hwy::HWY_NAMESPACE;
    const auto bounded = bound(d, x);
    const SigmoidPair<D> sigmoid(d, argument(d, bounded));
    constexpr auto cubic = static_cast<float>(GeluTanh::twice_root * 3 * GeluTanh::cubic);
    const auto slope = hn::MulAdd(hn::Mul(bounded, bounded), hn::Set(d, cubic), hn::Set(d, linear));
    const auto steepness = hn::Mul(sigmoid.value, sigmoid.complement);
    return hn::MulAdd(hn::Mul(bounded, steepness), slope, sigmoid.value);
  }
};

template <>
struct VectorCurve<GeluQuick> {
  explicit VectorCurve(const GeluQuick::Parameters&) {}

  template <class D, class V>
  HWY_INLINE V value(D d, V x) const {
    namespace hn = hwy::HWY_NAMESPACE;
    return times_sigmoid_of(d, x, hn::Mul(x, hn::Set(d, GeluQuick::factor)));
  }
  template <class D, class V>
  HWY_INLINE V derivative(D d, V x) const {
    namespace hn = hwy::HWY_NAMESPACE;
    const auto z = hn::Mul(x, hn::Set(d, GeluQuick::factor));
    const SigmoidPair<D> sigmoid(d, z);
    return hn::Mul(sigmoid.value, hn::MulAdd(z, sigmoid.complement, hn::Set(d, 1.0f)));
  }
};

}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggling guard
