// A sum of exponentials in one walk: rescaled whenever a greater number comes.
#pragma once

#include "kernels/device/groups.h"

namespace ingot::device {

// e^(x - m), where m is the greatest x so far; -infinity is no number to subtract, and nothing but itself is below it.
INGOT_ON_DEVICE float weight_below(float x, float greatest) {
  return exponential(x - (greatest == -infinity ? 0 : greatest));
}

// The greatest number so far, and the sum of exponentials below it.
struct RunningSum {
  float greatest = -infinity;
  float sum = 0;

  template <unsigned Groups>
  INGOT_ON_DEVICE void add(const float (&values)[Groups][group_floats]) {
    float next = greatest;
    INGOT_UNROLL
    for (unsigned i = 0; i < Groups * group_floats; ++i) {
      next = maximum(next, values[i / group_floats][i % group_floats]);
    }
    sum *= weight_below(greatest, next);
    greatest = next;
    const float taken = greatest == -infinity ? 0 : greatest;
    INGOT_UNROLL
    for (unsigned i = 0; i < Groups * group_floats; ++i) {
      sum += exponential(values[i / group_floats][i % group_floats] - taken);
    }
  }
};

}  // namespace ingot::device
