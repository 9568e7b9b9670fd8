// What a launch of the device function behind elementwise.scale, clamp, exp and sqrt is told.
#pragma once

#include "kernels/device/map_parameters.h"

namespace ingot {

enum class UnaryKind : std::uint8_t { scale, clamp, exponential, square_root };

struct UnaryMap {
  DeviceMap<1> map;
  UnaryKind kind;
  float factor;  // of scale
  float low;     // of clamp
  float high;
};

}  // namespace ingot
