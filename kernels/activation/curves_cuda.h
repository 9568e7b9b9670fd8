// What launches of the activations' device functions are told: which curve, and of which tensors.
#pragma once

#include "kernels/device/map_parameters.h"

namespace ingot {

enum class CurveKind : std::uint8_t {
  relu,
  leaky_relu,
  thresholded_relu,
  hard_sigmoid,
  softsign,
  sigmoid,
  tanh,
  silu,
  softplus,
  elu,
  selu,
  mish,
  gelu,
  gelu_tanh,
  gelu_quick,
};

// A curve with its parameters in the order in which it lists them.
struct DeviceCurve {
  CurveKind kind;
  float first = 0;
  float second = 0;
};

struct CurveMap {
  DeviceMap<1> map;
  DeviceCurve curve;
};

struct GateMap {
  DeviceMap<2> map;  // sources gate and up
  DeviceCurve curve;
};

}  // namespace ingot
