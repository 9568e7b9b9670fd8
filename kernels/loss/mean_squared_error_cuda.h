// What launches of loss.mean_squared_error's device functions are told.
#pragma once

#include "kernels/device/map_parameters.h"

namespace ingot {

struct SquaredErrors {
  DeviceMap<2> map;  // sources x and target; the map's target only where each element keeps its loss
};

struct SquaredErrorPieces {
  JointWalk<2> walk;  // x and target
  const float* x;
  const float* target;
  double* partials;      // a piece each
  std::uint32_t pieces;  // of a row
  bool is_aligned;       // rows are packed and begin at multiples of 16 bytes, in both
};

struct SquaredErrorTotal {
  const double* partials;
  std::uint64_t count;  // of them
  double divisor;
  float* loss;
};

inline constexpr std::uint32_t squared_error_piece = 16 << 10;  // elements that a block takes: from the shape alone

}  // namespace ingot
