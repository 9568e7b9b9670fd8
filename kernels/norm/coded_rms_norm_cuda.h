// What a launch of norm.coded_rms_norm's device functions is told.
#pragma once

#include "kernels/device/rows.h"

namespace ingot {

// A row of at most so many elements is kept by its block, eight of a thread.
inline constexpr std::uint32_t octet_row_length = 8 * 1024;

struct CodedRmsNormRows {
  DeviceRows<const float> x;
  DeviceRows<const float> residual;  // without data: there is none, and no sum
  DeviceRows<float> sum;             // of x and residual
  DeviceRows<std::int8_t> codes;
  DeviceRows<float> scales;
  DeviceRows<std::int32_t> sums;
  const float* gamma;
  double factor;  // of the sum of squares: 1 over the row's length
  float epsilon;
  std::uint32_t block;  // 32 or 256
  bool is_aligned;      // all rows of floats of x's length, and gamma, at multiples of 16 bytes
};

}  // namespace ingot
