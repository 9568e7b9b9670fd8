// All curves and gates: one mapping, in which the curve is a question that all threads answer alike.
#include "kernels/activation/curves_cuda.h"

#include "kernels/activation/device_curves.h"
#include "kernels/device/map.h"

namespace ingot::device {
namespace {

struct CurveFunction {
  const DeviceCurve& curve;

  template <unsigned Count>
  INGOT_ON_DEVICE void operator()(const float (&x)[1][Count], float (&y)[Count]) const {
    with_curve(curve, [&](auto value) { for_each_value(x, y, value); });
  }
};

struct GateFunction {
  const DeviceCurve& curve;

  template <unsigned Count>
  INGOT_ON_DEVICE void operator()(const float (&x)[2][Count], float (&y)[Count]) const {
    with_curve(curve,
               [&](auto value) { for_each_value(x, y, [value](float gate, float up) { return value(gate) * up; }); });
  }
};

}  // namespace

INGOT_DEVICE_FUNCTION(activation_curve, CurveMap, 256) {
  map_elements(parameters.map, CurveFunction{parameters.curve});
}

INGOT_DEVICE_FUNCTION(activation_gate, GateMap, 256) { map_elements(parameters.map, GateFunction{parameters.curve}); }

}  // namespace ingot::device
