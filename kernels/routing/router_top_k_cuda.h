// What a launch of routing.router_top_k's device function is told.
#pragma once

#include "kernels/device/rows.h"

namespace ingot {

struct RouterRows {
  DeviceRows<const float> logits;
  DeviceRows<std::int32_t> indices;
  DeviceRows<float> weights;
  const float* bias;  // null: none
  std::int64_t bias_stride;
  double least_sum;  // added to the sum that normalises
  float scaling;
  bool is_sigmoid;  // otherwise softmax
  bool normalises;
};

}  // namespace ingot
