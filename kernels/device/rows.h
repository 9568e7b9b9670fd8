// DeviceRows<T>: a tensor seen as a list of its last-axis rows, as device functions walk it. A part of a launch's
// parameters: device_rows() of kernels/device/windows.h makes it of a view.
#pragma once

#include <cstdint>

#include "kernels/device/marks.h"

namespace ingot {

// Axes that step evenly are folded, so most tensors have one axis of rows or none. Sizes are below 2^31.
template <class Element>
struct DeviceRows {
  static constexpr unsigned most_axes = 5;

  Element* data = nullptr;
  std::uint32_t count = 0;
  std::uint32_t length = 0;
  std::int64_t stride = 1;  // between neighbours within a row
  std::uint32_t axes = 0;   // of the rows
  std::uint32_t sizes[most_axes] = {};
  std::int64_t strides[most_axes] = {};

  INGOT_ON_DEVICE Element* row(std::uint32_t index) const {
    if (axes <= 1) return data + index * strides[0];
    std::int64_t offset = 0;
    for (std::uint32_t axis = axes - 1; axis > 0; --axis) {
      offset += index % sizes[axis] * strides[axis];
      index /= sizes[axis];
    }
    return data + offset + index * strides[0];
  }
};

}  // namespace ingot
