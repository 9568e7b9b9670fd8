// The scale at which a row is rounded to halves: kernels/vector/half_rows.h says what it is, which has only the host's
// words.
#pragma once

#include "kernels/device/numbers.h"

namespace ingot::device {

struct HalfScale {
  float to_halves;
  float from_halves;
};

// From the bits of the row's largest finite magnitude.
INGOT_ON_DEVICE HalfScale half_scale(std::uint32_t largest) {
  // 14 minus the exponent of the largest, which is that of a normal number where it lies within the bounds.
  std::int32_t exponent = 0;
  if (largest != 0) {
    exponent = 14 - (static_cast<std::int32_t>(largest >> 23) - 127);
    if (exponent > 126) exponent = 126;
    if (exponent < -126) exponent = -126;
  }
  return {float_of_bits(static_cast<std::uint32_t>(127 + exponent) << 23),
          float_of_bits(static_cast<std::uint32_t>(127 - exponent) << 23)};
}

}  // namespace ingot::device
