#include "kernels/activation/curves_cuda.h"

#include "kernels/activation/curve_kinds.h"
#include "kernels/device/joint_windows.h"

namespace ingot {
namespace {

INGOT_DEVICE_MODULE(curves_cuda);
INGOT_DEVICE_FUNCTION_OF(curves_cuda, activation_curve);
INGOT_DEVICE_FUNCTION_OF(curves_cuda, activation_gate);

template <class Curve>
void run_curve(const typename UnaryActivation<Curve>::Arguments& a, Context& context) {
  if (a.y.empty()) return;
  const CurveMap map = {.map = device_map(a.y, a.x), .curve = device_curve<Curve>(a)};
  context.queue->launch(activation_curve_function, map_shape(map.map), map);
}

template <class Curve>
bool curve_fits(const typename UnaryActivation<Curve>::Arguments& a) {
  return fits_device(a.y.shape());
}

template <class Gate>
void run_gate(const typename GatedActivation<Gate>::Arguments& a, Context& context) {
  if (a.y.empty()) return;
  const GateMap map = {.map = device_map(a.y, a.gate, a.up), .curve = device_curve<typename Gate::Curve>({})};
  context.queue->launch(activation_gate_function, map_shape(map.map), map);
}

template <class Gate>
bool gate_fits(const typename GatedActivation<Gate>::Arguments& a) {
  return fits_device(a.y.shape());
}

}  // namespace

template <class Curve>
Variant<UnaryActivation<Curve>> curve_cuda() {
  return {.name = "cuda",
          .needs = {Feature::sm_80},
          .run = run_curve<Curve>,
          .accepts = curve_fits<Curve>,
          .device_function = &activation_curve_function};
}
template <class Gate>
Variant<GatedActivation<Gate>> gate_cuda() {
  return {.name = "cuda",
          .needs = {Feature::sm_80},
          .run = run_gate<Gate>,
          .accepts = gate_fits<Gate>,
          .device_function = &activation_gate_function};
}

template Variant<UnaryActivation<Relu>> curve_cuda<Relu>();
template Variant<UnaryActivation<LeakyRelu>> curve_cuda<LeakyRelu>();
template Variant<UnaryActivation<ThresholdedRelu>> curve_cuda<ThresholdedRelu>();
template Variant<UnaryActivation<HardSigmoid>> curve_cuda<HardSigmoid>();
template Variant<UnaryActivation<Softsign>> curve_cuda<Softsign>();
template Variant<UnaryActivation<Sigmoid>> curve_cuda<Sigmoid>();
template Variant<UnaryActivation<Tanh>> curve_cuda<Tanh>();
template Variant<UnaryActivation<Silu>> curve_cuda<Silu>();
template Variant<UnaryActivation<Softplus>> curve_cuda<Softplus>();
template Variant<UnaryActivation<Elu>> curve_cuda<Elu>();
template Variant<UnaryActivation<Selu>> curve_cuda<Selu>();
template Variant<UnaryActivation<Mish>> curve_cuda<Mish>();
template Variant<UnaryActivation<Gelu>> curve_cuda<Gelu>();
template Variant<UnaryActivation<GeluTanh>> curve_cuda<GeluTanh>();
template Variant<UnaryActivation<GeluQuick>> curve_cuda<GeluQuick>();
template Variant<GatedActivation<Swiglu>> gate_cuda<Swiglu>();
template Variant<GatedActivation<Geglu>> gate_cuda<Geglu>();
template Variant<GatedActivation<GegluTanh>> gate_cuda<GegluTanh>();
template Variant<GatedActivation<Reglu>> gate_cuda<Reglu>();

}  // namespace ingot
