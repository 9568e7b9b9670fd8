// What a launch of quantization.quantize's device function is told.
#pragma once

#include <cstddef>

#include "kernels/device/row_groups.h"
#include "kernels/device/rows.h"
#include "tensor/dtype.h"

namespace ingot {

struct QuantizeRows {
  DeviceRows<const float> x;
  DeviceRows<std::byte> blocks;
  RowGroups groups;  // a block of 32 elements each
  DType dtype;
  bool is_aligned;  // rows of x are at multiples of 16 bytes
};

}  // namespace ingot
