// What a launch of the device functions of attention.softmax and attention.log_softmax is told.
#pragma once

#include "kernels/device/rows.h"
#include "kernels/device/view.h"

namespace ingot {

struct SoftmaxRows {
  DeviceRows<const float> x;
  DeviceRows<const float> mask;     // of x's shape; without data: none
  DeviceTensor<const float> sinks;  // of the shape of x's rows; without data: none
  DeviceRows<float> y;
  float* log_sum_exp;         // null: nobody asked for it
  std::uint32_t queries;      // rows of a matrix of scores
  std::int64_t query_offset;  // what the first of them sees beyond its first key
  float scale;
  bool is_causal;
  bool is_logarithm;
  bool is_aligned;  // rows of x, y and mask at multiples of 16 bytes, and as many numbers in each as fill such
  bool is_plain;    // the same, and no mask of any kind
};

}  // namespace ingot
