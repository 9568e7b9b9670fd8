// The curves behind products, those of kernels/activation to the last bit, by the number of a FusedCurve.
#pragma once

#include "kernels/activation/device_curves.h"

namespace ingot::device {

INGOT_ON_DEVICE float curve_of(unsigned curve, float x) {
  switch (curve) {
    case 0: return silu(x);
    case 1: return gelu(x);
    case 2: return gelu_tanh(x);
    default: return relu(x);
  }
}

}  // namespace ingot::device
