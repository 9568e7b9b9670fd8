// What a launch of layout.scatter_add's device function is told.
#pragma once

#include "kernels/device/rows.h"

namespace ingot {

struct ScatteredRows {
  DeviceRows<const float> x;  // a row an index
  const std::int32_t* indices;
  const float* base;  // null: zeros
  std::int64_t base_stride;
  float* y;
  std::int64_t y_stride;
  std::uint32_t width;         // of a row of y
  std::uint32_t blocks_a_row;  // each of scattered_columns columns
};

inline constexpr std::uint32_t scattered_columns = 1024;

}  // namespace ingot
