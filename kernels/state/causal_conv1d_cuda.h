// What launches of the device functions of state.causal_conv1d are told.
#pragma once

#include "kernels/device/view.h"

namespace ingot {

struct ConvolvedChannels {
  DeviceTensor<const float> x;
  DeviceTensor<const float> weights;
  DeviceTensor<const float> bias;           // without data: none
  DeviceTensor<const float> initial_state;  // without data: zeros
  DeviceTensor<float> y;
  DeviceTensor<float> final_state;  // perhaps the initial one
  std::uint32_t taps;
  bool is_silu;
  bool has_channels_last;  // neighbouring threads have neighbouring channels, else neighbouring times
  bool has_outputs;        // those who keep the states find the outputs before, one after another: there are few
};

}  // namespace ingot
