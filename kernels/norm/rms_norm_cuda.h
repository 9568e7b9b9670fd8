// What a launch of the device functions of the RMS norms is told: norm.rms_norm, norm.residual_rms_norm, norm.qk_norm
// (once for queries and once for keys) and norm.l2_norm, which is one without a mean.
#pragma once

#include "kernels/device/rows.h"

namespace ingot {

struct RmsNormRows {
  DeviceRows<const float> x;
  DeviceRows<const float> residual;  // without data: there is none, and no sum
  DeviceRows<float> sum;             // of x and residual
  DeviceRows<float> y;
  const float* gamma;  // null: ones
  float* rstd;         // null: nobody asked for it
  double factor;       // of the sum of squares: 1 over the row's length, or 1
  float epsilon;
  bool is_aligned;  // all rows and gamma at multiples of 16 bytes, and as many numbers in each as fill such
};

}  // namespace ingot
