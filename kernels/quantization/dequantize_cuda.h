// What a launch of quantization.dequantize's device function is told.
#pragma once

#include <cstddef>

#include "kernels/device/row_groups.h"
#include "kernels/device/rows.h"
#include "tensor/dtype.h"

namespace ingot {

struct DequantizeRows {
  DeviceRows<const std::byte> blocks;
  DeviceRows<float> y;
  RowGroups groups;  // of four elements
  DType dtype;
  bool is_aligned;  // rows of y are at multiples of 16 bytes
};

}  // namespace ingot
