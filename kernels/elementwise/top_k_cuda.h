// What a launch of elementwise.top_k's device function is told.
#pragma once

#include "kernels/device/rows.h"

namespace ingot {

struct DeviceTopK {
  DeviceRows<const float> x;
  DeviceRows<float> values;
  DeviceRows<std::int32_t> indices;
  std::int64_t* kept;  // a list of `room` ranked numbers a row; null: in shared memory
  std::uint32_t room;  // the power of two that k fits into
  bool largest;
};

inline constexpr std::uint32_t top_k_shared_room = 4096;  // ranked numbers that shared memory has room for

}  // namespace ingot
