// The one order in which blocks of weights add up on a device, whoever multiplies them:
//
//   term  = (sum of integers) scale + ((sum of x's integers) base)       the product in brackets rounded first
//   sum   = fused(term * scale of x + sum)                               block by block, from zero every 512 elements
//   total = total + sum
//
// In a block of 32 the first sum is that of code times code, the second that of x's codes, and base is 0 where a format
// has none. In a block of 256 both are weighed by the groups' integer scales and minimums, and base is minus the scale
// of the minimums. Integer sums are exact, so it does not matter how they came about.
#pragma once

#include "kernels/device/numbers.h"

namespace ingot::device {

struct BlockScale {
  float scale;
  float base;
};

INGOT_ON_DEVICE float add_block(float sum, std::int32_t products, std::int32_t codes, BlockScale weights,
                                float x_scale) {
  const float below = static_cast<float>(codes) * weights.base;
  const float term = fused_multiply_add(static_cast<float>(products), weights.scale, below);
  return fused_multiply_add(term, x_scale, sum);
}

}  // namespace ingot::device
