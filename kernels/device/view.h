// DeviceTensor<T>: a view of any rank, as device functions see it. A part of a launch's parameters: device_tensor() of
// kernels/device/windows.h makes it.
#pragma once

#include <cstdint>

#include "kernels/device/marks.h"

namespace ingot {

// Sizes are below 2^31; sizes and strides beyond the rank are 1 and 0.
template <class Element>
struct DeviceTensor {
  static constexpr unsigned most_axes = 6;

  Element* data = nullptr;
  std::uint32_t rank = 0;
  std::uint32_t sizes[most_axes] = {};
  std::int64_t strides[most_axes] = {};

  // One index an axis.
  template <class... Index>
  INGOT_ON_DEVICE Element& operator()(Index... index) const {
    unsigned axis = 0;
    std::int64_t offset = 0;
    ((offset += static_cast<std::int64_t>(index) * strides[axis++]), ...);
    return data[offset];
  }

  // The element at a place of the row-major list of all of them.
  INGOT_ON_DEVICE Element& at(std::uint64_t place) const {
    std::int64_t offset = 0;
    std::uint32_t axis = rank;
    // Divisions of 64 bits take a device ten times as long: few tensors need them, and only until what is left fits.
    while (axis > 1 && place > 0xffffffffu) {
      --axis;
      offset += static_cast<std::int64_t>(place % sizes[axis]) * strides[axis];
      place /= sizes[axis];
    }
    auto rest = static_cast<std::uint32_t>(place);
    while (axis > 1) {
      --axis;
      offset += rest % sizes[axis] * strides[axis];
      rest /= sizes[axis];
    }
    return data[offset + rest * strides[0]];
  }
};

}  // namespace ingot
