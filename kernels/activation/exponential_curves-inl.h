// The vector forms of exponential_curves.h.
#if defined(INGOT_KERNELS_ACTIVATION_EXPONENTIAL_CURVES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_KERNELS_ACTIVATION_EXPONENTIAL_CURVES_INL_H_
#undef INGOT_KERNELS_ACTIVATION_EXPONENTIAL_CURVES_INL_H_
#else
#define INGOT_KERNELS_ACTIVATION_EXPONENTIAL_CURVES_INL_H_
#endif

#include "kernels/activation/exponential_curves.h"
#include "kernels/activation/unary_activation-inl.h"
#include "kernels/vector/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {

template <>
struct VectorCurve<Sigmoid> {
  explicit VectorCurve(const Sigmoid::Parameters&) {}

  template <class D, class V>
  HWY_INLINE V value(D d, V x) const {
    return sigmoid_of(d, x);
  }
  template <class D, class V>
  HWY_INLINE V derivative(D d, V x) const {
    namespace hn = hwy::HWY_NAMESPACE;
    const SigmoidPair<D> sigmoid(d, x);
    return hn::Mul(sigmoid.value, sigmoid.complement);
  }
};

template <>
struct VectorCurve<Tanh> {
  explicit VectorCurve(const Tanh::Parameters&) {}

  template <class D, class V>
  HWY_INLINE V value(D d, V x) const {
    return tanh_of(d, x);
  }
  template <class D, class V>
  HWY_INLINE V derivative(D d, V x) const {
    namespace hn = hwy::HWY_NAMESPACE;
    const SigmoidPair<D> sigmoid(d, hn::Add(x, x));
    return hn::Mul(hn::Mul(hn::Set(d, 4.0f), sigmoid.value), sigmoid.complement);
  }
};

template <>
struct VectorCurve<Silu> {
  explicit VectorCurve(const Silu::Parameters&) {}

  template <class D, class V>
  HWY_INLINE V value(D d, V x) const {
    return times_sigmoid_of(d, x, x);
  }
  template <class D, class V>
  HWY_INLINE V derivative(D d, V x) const {
    namespace hn = hwy::HWY_NAMESPACE;
    const SigmoidPair<D> sigmoid(d, x);
    return hn::Mul(sigmoid.value, hn::MulAdd(x, sigmoid.complement, hn::Set(d, 1.0f)));
  }
};

template <>
struct VectorCurve<Softplus> {
  explicit VectorCurve(const Softplus::Parameters&) {}

  template <class D, class V>
  HWY_INLINE V value(D d, V x) const {
    return softplus_of(d, x);
  }
  template <class D, class V>
  HWY_INLINE V derivative(D d, V x) const {
    return sigmoid_of(d, x);
  }
};

template <>
struct VectorCurve<Elu> {
  float alpha;
  explicit VectorCurve(const Elu::Parameters& parameters) : alpha(parameters.alpha) {}

  template <class D, class V>
  HWY_INLINE V value(D d, V x) const {
    namespace hn = hwy::HWY_NAMESPACE;
    return hn::IfThenElse(hn::Gt(x, hn::Zero(d)), x,
                          hn::Mul(hn::Set(d, alpha), expm1_of_nonpositive(d, at_most(d, x, 0.0f))));
  }
  template <class D, class V>
  HWY_INLINE V derivative(D d, V x) const {
    namespace hn = hwy::HWY_NAMESPACE;
    return hn::IfThenElse(hn::Gt(x, hn::Zero(d)), hn::Set(d, 1.0f),
                          hn::Mul(hn::Set(d, alpha), exp_of_nonpositive(d, at_most(d, x, 0.0f))));
  }
};

template <>
struct VectorCurve<Selu> {
  float alpha;
  float gamma;
  explicit VectorCurve(const Selu::Parameters& parameters) : alpha(parameters.alpha), gamma(parameters.gamma) {}

  template <class D, class V>
  HWY_INLINE V value(D d, V x) const {
    namespace hn = hwy::HWY_NAMESPACE;
    const auto below = hn::Mul(hn::Set(d, alpha), expm1_of_nonpositive(d, at_most(d, x, 0.0f)));
    return hn::Mul(hn::Set(d, gamma), hn::IfThenElse(hn::Gt(x, hn::Zero(d)), x, below));
  }
  template <class D, class V>
  HWY_INLINE V derivative(D d, V x) const {
    namespace hn = hwy::HWY_NAMESPACE;
    const auto below = hn::Mul(hn::Set(d, alpha), exp_of_nonpositive(d, at_most(d, x, 0.0f)));
    return hn::Mul(hn::Set(d, gamma), hn::IfThenElse(hn::Gt(x, hn::Zero(d)), hn::Set(d, 1.0f), below));
  }
};

// tanh(log(1 + w)) = (w^2 + 2w) / (w^2 + 2w + 2) with w = e^x. Above zero both parts are divided by w^2, so that only
// e = e^-|x| appears and nothing overflows.
template <>
struct VectorCurve<Mish> {
  explicit VectorCurve(const Mish::Parameters&) {}

  template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
  struct Parts {
    V e;
    V upper;
    V lower;
    HWY_INLINE Parts(D d, V x) {
      namespace hn = hwy::HWY_NAMESPACE;
      e = exp_of_nonpositive(d, hn::Neg(hn::Abs(x)));
      const auto two = hn::Set(d, 2.0f);
      const auto is_negative = hn::Lt(x, hn::Zero(d));
      const auto squares = hn::Mul(e, hn::IfThenElse(is_negative, e, hn::Add(e, e)));  // e^2 below zero, 2 e^2 above
      const auto twice = hn::Add(e, e);
      upper = hn::IfThenElse(is_negative, hn::Mul(e, hn::Add(e, two)), hn::Add(twice, hn::Set(d, 1.0f)));
      lower = hn::Add(hn::Add(squares, twice), hn::IfThenElse(is_negative, two, hn::Set(d, 1.0f)));
    }
  };

  template <class D, class V>
  HWY_INLINE V value(D d, V x) const {
    namespace hn = hwy::HWY_NAMESPACE;
    const Parts<D> parts(d, x);
    return hn::Mul(x, hn::Div(parts.upper, parts.lower));
  }
  template <class D, class V>
  HWY_INLINE V derivative(D d, V x) const {
    namespace hn = hwy::HWY_NAMESPACE;
    // t + x (1 - t^2) sigmoid(x), where (1 - t^2) sigmoid(x) = 4 w (1 + w) / (w^2 + 2w + 2)^2.
    const Parts<D> parts(d, x);
    const auto e = parts.e;
    const auto factor = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), e, hn::Mul(e, e));
    const auto reciprocal = hn::Div(hn::Set(d, 1.0f), parts.lower);
    const auto slope = hn::Mul(hn::Mul(hn::Mul(hn::Set(d, 4.0f), factor), hn::Add(e, hn::Set(d, 1.0f))),
                               hn::Mul(reciprocal, reciprocal));
    return hn::MulAdd(x, slope, hn::Mul(parts.upper, reciprocal));
  }
};

}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggling guard
