// The host's side of DeviceRows and DeviceTensor: made of views, for a launch's parameters.
#pragma once

#include "kernels/device/rows.h"
#include "kernels/device/view.h"
#include "tensor/view.h"

namespace ingot {

// Rows of a device's table accept only such tensors: their functions count in 32 bits.
constexpr bool fits_device(const Shape& shape) {
  constexpr std::int64_t most = std::int64_t{1} << 31;
  for (std::int64_t size : shape) {
    if (size >= most) return false;
  }
  return shape.rank() <= 1 || element_count(shape) == 0 || element_count(shape) / shape.last() < most;
}

// Whether every row begins at a multiple of 16 bytes and is a whole number of such groups. Precondition: packed rows.
template <class Element>
bool groups_are_aligned(const View<Element>& view) {
  constexpr std::int64_t group = 16 / sizeof(Element);
  if (view.shape().last() % group != 0 || reinterpret_cast<std::uintptr_t>(view.data()) % 16 != 0) return false;
  for (int axis = 0; axis < view.rank() - 1; ++axis) {
    if (view.size(axis) > 1 && view.stride(axis) % group != 0) return false;
  }
  return true;
}

// Preconditions: view.rank() >= 1 and fits_device(view.shape()).
template <class Element>
DeviceRows<Element> device_rows(const View<Element>& view) {
  DeviceRows<Element> rows;
  rows.data = view.data();
  rows.length = static_cast<std::uint32_t>(view.shape().last());
  rows.stride = view.strides().last();
  std::int64_t count = 1;
  for (int axis = 0; axis < view.rank() - 1; ++axis) count *= view.size(axis);
  rows.count = static_cast<std::uint32_t>(count);
  if (view.empty()) return rows;  // perhaps without data: rows of nothing all lie at the same place
  for (int axis = 0; axis < view.rank() - 1; ++axis) {
    const auto size = static_cast<std::uint32_t>(view.size(axis));
    if (size == 1) continue;
    if (rows.axes > 0 && rows.strides[rows.axes - 1] == view.stride(axis) * size) {
      rows.sizes[rows.axes - 1] *= size;
      rows.strides[rows.axes - 1] = view.stride(axis);
    } else {
      rows.sizes[rows.axes] = size;
      rows.strides[rows.axes++] = view.stride(axis);
    }
  }
  return rows;
}

// Precondition: fits_device(view.shape()). Axes are kept as they are: functions name them.
template <class Element>
DeviceTensor<Element> device_tensor(const View<Element>& view) {
  DeviceTensor<Element> tensor;
  tensor.data = view.data();
  tensor.rank = static_cast<std::uint32_t>(view.rank());
  for (unsigned axis = 0; axis < DeviceTensor<Element>::most_axes; ++axis) {
    const bool is_there = static_cast<int>(axis) < view.rank();
    tensor.sizes[axis] = is_there ? static_cast<std::uint32_t>(view.size(static_cast<int>(axis))) : 1;
    tensor.strides[axis] = is_there ? view.stride(static_cast<int>(axis)) : 0;
  }
  return tensor;
}

}  // namespace ingot
