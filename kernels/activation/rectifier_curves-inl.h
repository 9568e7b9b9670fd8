// The vector forms of rectifier_curves.h.
#if defined(INGOT_KERNELS_ACTIVATION_RECTIFIER_CURVES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_KERNELS_ACTIVATION_RECTIFIER_CURVES_INL_H_
#undef INGOT_KERNELS_ACTIVATION_RECTIFIER_CURVES_INL_H_
#else
#define INGOT_KERNELS_ACTIVATION_RECTIFIER_CURVES_INL_H_
#endif

#include "kernels/activation/rectifier_curves.h"
#include "kernels/activation/unary_activation-inl.h"
#include "kernels/vector/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {

template <>
struct VectorCurve<Relu> {
  explicit VectorCurve(const Relu::Parameters&) {}

  template <class D, class V>
  HWY_INLINE V value(D d, V x) const {
    namespace hn = hwy::HWY_NAMESPACE;
    return hn::IfThenZeroElse(hn::Lt(x, hn::Zero(d)), x);
  }
  template <class D, class V>
  HWY_INLINE V derivative(D d, V x) const {
    namespace hn = hwy::HWY_NAMESPACE;
    return hn::IfThenElseZero(hn::Gt(x, hn::Zero(d)), hn::Set(d, 1.0f));
  }
};

template <>
struct VectorCurve<LeakyRelu> {
  float slope;
  explicit VectorCurve(const LeakyRelu::Parameters& parameters) : slope(parameters.slope) {}

  template <class D, class V>
  HWY_INLINE V value(D d, V x) const {
    namespace hn = hwy::HWY_NAMESPACE;
    return hn::IfThenElse(hn::Gt(x, hn::Zero(d)), x, hn::Mul(x, hn::Set(d, slope)));
  }
  template <class D, class V>
  HWY_INLINE V derivative(D d, V x) const {
    namespace hn = hwy::HWY_NAMESPACE;
    return hn::IfThenElse(hn::Gt(x, hn::Zero(d)), hn::Set(d, 1.0f), hn::Set(d, slope));
  }
};

template <>
struct VectorCurve<ThresholdedRelu> {
  float alpha;
  explicit VectorCurve(const ThresholdedRelu::Parameters& parameters) : alpha(parameters.alpha) {}

  template <class D, class V>
  HWY_INLINE V value(D d, V x) const {
    namespace hn = hwy::HWY_NAMESPACE;
    return hn::IfThenElseZero(hn::Gt(x, hn::Set(d, alpha)), x);
  }
  template <class D, class V>
  HWY_INLINE V derivative(D d, V x) const {
    namespace hn = hwy::HWY_NAMESPACE;
    return hn::IfThenElseZero(hn::Gt(x, hn::Set(d, alpha)), hn::Set(d, 1.0f));
  }
};

template <>
struct VectorCurve<HardSigmoid> {
  float alpha;
  float beta;
  explicit VectorCurve(const HardSigmoid::Parameters& parameters) : alpha(parameters.alpha), beta(parameters.beta) {}

  template <class D, class V>
  HWY_INLINE V value(D d, V x) const {
    namespace hn = hwy::HWY_NAMESPACE;
    return at_least(d, at_most(d, hn::MulAdd(x, hn::Set(d, alpha), hn::Set(d, beta)), 1.0f), 0.0f);
  }
  template <class D, class V>
  HWY_INLINE V derivative(D d, V x) const {
    namespace hn = hwy::HWY_NAMESPACE;
    const auto line = hn::MulAdd(x, hn::Set(d, alpha), hn::Set(d, beta));
    const auto is_between = hn::And(hn::Gt(line, hn::Zero(d)), hn::Lt(line, hn::Set(d, 1.0f)));
    return hn::IfThenElseZero(is_between, hn::Set(d, alpha));
  }
};

template <>
struct VectorCurve<Softsign> {
  explicit VectorCurve(const Softsign::Parameters&) {}

  template <class D, class V>
  HWY_INLINE V value(D d, V x) const {
    namespace hn = hwy::HWY_NAMESPACE;
    return hn::Div(x, hn::Add(hn::Set(d, 1.0f), hn::Abs(x)));
  }
  template <class D, class V>
  HWY_INLINE V derivative(D d, V x) const {
    namespace hn = hwy::HWY_NAMESPACE;
    const auto reciprocal = hn::Div(hn::Set(d, 1.0f), hn::Add(hn::Set(d, 1.0f), hn::Abs(x)));
    return hn::Mul(reciprocal, reciprocal);
  }
};

}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggling guard
