#include "kernels/activation/gates.h"
#include "kernels/vector/simd_targets.h"
#include "tensor/rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/activation/gates_simd.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/activation/exponential_curves-inl.h"
#include "kernels/activation/gates-inl.h"
#include "kernels/activation/gelu_curves-inl.h"
#include "kernels/activation/rectifier_curves-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {

// The compiler shares what value and derivative have in common.
template <class Curve>
struct GateGradient {
  VectorCurve<Curve> curve;
  template <class D, class V>
  HWY_INLINE void operator()(D d, const V* in, V* out) const {
    namespace hn = hwy::HWY_NAMESPACE;
    out[0] = hn::Mul(hn::Mul(in[2], in[1]), curve.derivative(d, in[0]));
    out[1] = hn::Mul(in[2], curve.value(d, in[0]));
  }
};

template <class Gate>
void gated_activation(const typename GatedActivation<Gate>::Arguments& a, Context& context) {
  using Curve = typename Gate::Curve;
  const VectorCurve<Curve> curve{typename Curve::Parameters()};
  map_elements<2, 1>({a.gate, a.up}, {a.y}, context, GateValue<Curve>{curve});
}

template <class Gate>
void gated_activation_backward(const typename GatedActivationBackward<Gate>::Arguments& a, Context& context) {
  using Curve = typename Gate::Curve;
  const VectorCurve<Curve> curve{typename Curve::Parameters()};
  map_elements<3, 2>({a.gate, a.up, a.dy}, {a.dgate, a.dup}, context, GateGradient<Curve>{curve});
}

}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot {

template <class Gate>
SimdEntries<GatedActivation<Gate>> gate_entries() {
  return INGOT_SIMD_ENTRIES(gated_activation<Gate>);
}
template <class Gate>
SimdEntries<GatedActivationBackward<Gate>> gate_backward_entries() {
  return INGOT_SIMD_ENTRIES(gated_activation_backward<Gate>);
}

template SimdEntries<GatedActivation<Swiglu>> gate_entries();
template SimdEntries<GatedActivationBackward<Swiglu>> gate_backward_entries();
template SimdEntries<GatedActivation<Geglu>> gate_entries();
template SimdEntries<GatedActivationBackward<Geglu>> gate_backward_entries();
template SimdEntries<GatedActivation<GegluTanh>> gate_entries();
template SimdEntries<GatedActivationBackward<GegluTanh>> gate_backward_entries();
template SimdEntries<GatedActivation<Reglu>> gate_entries();
template SimdEntries<GatedActivationBackward<Reglu>> gate_backward_entries();

}  // namespace ingot
#endif
