// Vector unary activations, written once over vector curves. A source that includes this after the curves it holds
// instantiates forward_entries and backward_entries for them in its HWY_ONCE section.
#if defined(INGOT_KERNELS_ACTIVATION_UNARY_ACTIVATION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_KERNELS_ACTIVATION_UNARY_ACTIVATION_INL_H_
#undef INGOT_KERNELS_ACTIVATION_UNARY_ACTIVATION_INL_H_
#else
#define INGOT_KERNELS_ACTIVATION_UNARY_ACTIVATION_INL_H_
#endif

#include "kernels/activation/unary_activation.h"
#include "kernels/vector/simd_targets.h"
#include "kernels/vector/tensor_map-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {

// The vector form of a curve: value(d, x) and derivative(d, x), made from the curve's parameters.
template <class Curve>
struct VectorCurve;

template <class Curve>
struct CurveValue {
  VectorCurve<Curve> curve;
  template <class D, class V>
  HWY_INLINE void operator()(D d, const V* in, V* out) const {
    out[0] = curve.value(d, in[0]);
  }
};

template <class Curve>
struct CurveGradient {
  VectorCurve<Curve> curve;
  template <class D, class V>
  HWY_INLINE void operator()(D d, const V* in, V* out) const {
    out[0] = hwy::HWY_NAMESPACE::Mul(in[1], curve.derivative(d, in[0]));
  }
};

template <class Curve>
void unary_activation(const typename UnaryActivation<Curve>::Arguments& a, Context& context) {
  map_elements<1, 1>({a.x}, {a.y}, context, CurveValue<Curve>{VectorCurve<Curve>(a)});
}

template <class Curve>
void unary_activation_backward(const typename UnaryActivationBackward<Curve>::Arguments& a, Context& context) {
  map_elements<2, 1>({a.x, a.dy}, {a.dx}, context, CurveGradient<Curve>{VectorCurve<Curve>(a)});
}

}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot {

template <class Curve>
SimdEntries<UnaryActivation<Curve>> forward_entries() {
  return INGOT_SIMD_ENTRIES(unary_activation<Curve>);
}

template <class Curve>
SimdEntries<UnaryActivationBackward<Curve>> backward_entries() {
  return INGOT_SIMD_ENTRIES(unary_activation_backward<Curve>);
}

}  // namespace ingot
#endif

#endif  // toggling guard
