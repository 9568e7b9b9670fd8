// What a warp finds of its lanes' integers by one instruction: sums of floats have no order there.
#pragma once

#include "kernels/device/warp.h"

namespace ingot::device {

#if defined(__CUDACC__)
INGOT_ON_DEVICE std::uint32_t warp_maximum_of_integers(std::uint32_t value) {
  return __reduce_max_sync(0xffffffffu, value);
}
#else
INGOT_ON_DEVICE std::uint32_t warp_maximum_of_integers(std::uint32_t value) { return warp_maximum(value); }
#endif

}  // namespace ingot::device
