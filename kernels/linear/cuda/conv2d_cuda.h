// What a launch of linear.conv2d is told.
#pragma once

#include "kernels/device/view.h"

namespace ingot {

struct Convolution {
  DeviceTensor<const float> x;        // [B, C, H, W]
  DeviceTensor<const float> weights;  // [N, C, U, V]
  const float* bias;                  // null: none
  std::int32_t stride_height, stride_width;
  std::int32_t padding_height, padding_width;
  DeviceTensor<float> y;  // [B, N, I, J]
  std::uint64_t count;    // of y
};

}  // namespace ingot
