// What a launch of layout.gather_rows' device function is told.
#pragma once

#include <cstddef>

#include "kernels/device/joint_walk.h"
#include "kernels/device/rows.h"
#include "tensor/dtype.h"

namespace ingot {

struct GatheredRows {
  const std::byte* table;
  std::int64_t table_stride;  // bytes between its rows
  const std::int32_t* indices;
  DeviceRows<float> y;
  WalkItems items;  // groups of four elements of y
  DType dtype;
  bool is_planes;   // the table lies in planes (tensor/planes.h)
  bool is_aligned;  // groups of four begin at multiples of their size, in y and, where it is of a plain type, the table
};

}  // namespace ingot
