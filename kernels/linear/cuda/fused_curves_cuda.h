// What a launch of the curve behind a product is told.
#pragma once

#include <cstdint>

namespace ingot {

struct FusedCurves {
  std::uint8_t curve;  // a FusedCurve
  float* y;            // f(y), times up where it is given
  std::int64_t y_stride;
  const float* up;  // packed; null: none
  std::uint32_t rows;
  std::uint32_t columns;
};

}  // namespace ingot
