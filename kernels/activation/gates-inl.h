// The vector form of a gate: f(gate) up. The include guard toggles with each target.
#if defined(INGOT_KERNELS_ACTIVATION_GATES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_KERNELS_ACTIVATION_GATES_INL_H_
#undef INGOT_KERNELS_ACTIVATION_GATES_INL_H_
#else
#define INGOT_KERNELS_ACTIVATION_GATES_INL_H_
#endif

#include "kernels/activation/unary_activation-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {

template <class Curve>
struct GateValue {
  VectorCurve<Curve> curve;
  template <class D, class V>
  HWY_INLINE void operator()(D d, const V* in, V* out) const {
    out[0] = hwy::HWY_NAMESPACE::Mul(curve.value(d, in[0]), in[1]);
  }
};

}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggling guard
