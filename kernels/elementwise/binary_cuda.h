// What a launch of the device function behind elementwise.add, sub, mul and div is told.
#pragma once

#include "kernels/device/map_parameters.h"

namespace ingot {

enum class BinaryKind : std::uint8_t { add, subtract, multiply, divide };

struct BinaryMap {
  DeviceMap<2> map;  // sources a and b
  BinaryKind kind;
};

}  // namespace ingot
