// What a launch of the device functions of norms with a mean is told: norm.layer_norm and norm.group_norm.
#pragma once

#include "kernels/device/rows.h"

namespace ingot {

struct LayerNormRows {
  DeviceRows<const float> x;  // group_norm: a row is a group of channels of an image
  DeviceRows<float> y;
  const float* gamma;  // null: ones
  const float* beta;   // null: zeros
  float* mean;         // null: nobody asked for it, as below
  float* rstd;
  double factor;  // 1 over the row's length
  // Of group_norm, which has a number of gamma and beta for each channel.
  std::uint32_t positions;  // elements of a channel
  std::uint32_t channels;   // of a group
  std::uint32_t groups;     // of an image
  float epsilon;
  bool is_aligned;  // rows, gamma and beta at multiples of 16 bytes, and as many numbers in each as fill such
};

}  // namespace ingot
