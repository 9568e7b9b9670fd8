// Rows of f32 that meet rows of f16 in products are rounded to halves, at a scale of their own, because activations of
// real models pass 65504, the largest half: the power of two that brings a row's largest finite magnitude to [2^14,
// 2^15).
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "tensor/half.h"

namespace ingot {

struct RowScale {
  float to_halves = 1;
  float from_halves = 1;
};

// Between 2^-126 and 2^126, so that both are normal numbers: rows whose largest lies below 2^-112 keep all their bits
// anyway, because floats themselves end there. For the same reason a half times `from_halves` is exact.
inline RowScale half_row_scale(float largest) {
  if (largest == 0) return {};
  const int exponent = std::clamp(14 - std::ilogb(largest), -126, 126);
  return {std::ldexp(1.0f, exponent), std::ldexp(1.0f, -exponent)};
}

// What references multiply: a row's numbers after rounding.
inline void round_to_halves(std::vector<double>& row) {
  float largest = 0;
  for (double value : row)
    largest = std::isfinite(value) ? std::max(largest, std::fabs(static_cast<float>(value))) : largest;
  const RowScale scale = half_row_scale(largest);
  for (double& value : row) {
    value = double{static_cast<float>(Half(static_cast<float>(value) * scale.to_halves))} * scale.from_halves;
  }
}

}  // namespace ingot
