// Gamma comes from far: nothing has read it since the last pass, and the weights of a model lie between. So launches of
// norms ask for it before they wait for the one before them.
#pragma once

#include "kernels/device/early.h"

namespace ingot::device {

// Of parameters with `gamma`, `is_aligned` and the rows `x`.
template <class Rows>
INGOT_ON_DEVICE void prefetch_gamma(const Rows& parameters) {
  if (parameters.gamma == nullptr || !parameters.is_aligned || thread_index() != 0) return;
  prefetch_bytes(parameters.gamma, parameters.x.length * sizeof(float));
}

}  // namespace ingot::device
