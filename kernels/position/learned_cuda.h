// What launches of the device functions of learned positions and of slopes are told.
#pragma once

#include "kernels/device/row_groups.h"
#include "kernels/device/rows.h"
#include "kernels/device/view.h"

namespace ingot {

struct LearnedRows {
  DeviceRows<const float> x;
  DeviceRows<const float> table;
  DeviceTensor<const std::int32_t> positions;
  DeviceRows<float> y;
  RowGroups groups;  // of four elements
  bool is_aligned;   // all rows at multiples of 16 bytes, and as many numbers in each as fill such
};

struct AlibiSlopeList {
  DeviceTensor<float> slopes;
  std::uint32_t power;  // the largest power of two of at most as many as there are heads
  float max_bias;
};

}  // namespace ingot
