// What a launch of quantization.quantize_activations' device function is told.
#pragma once

#include "kernels/device/rows.h"

namespace ingot {

struct QuantizeActivationRows {
  DeviceRows<const float> x;
  DeviceRows<std::int8_t> codes;
  DeviceRows<float> scales;
  DeviceRows<std::int32_t> sums;  // without data: nobody asked for them
  std::uint32_t pieces;           // of a row, 256 elements and a warp each
  std::uint32_t block;            // 32 or 256
  bool is_aligned;                // rows of x are at multiples of 16 bytes
};

}  // namespace ingot
