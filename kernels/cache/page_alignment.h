// How wide pages may be moved by a device.
#pragma once

#include "tensor/any_view.h"

namespace ingot {

// Whether data and steps of the pages are multiples of so many bytes.
template <class Byte>
bool pages_are_aligned(const BasicAnyView<Byte>& pages, std::int64_t bytes) {
  if (reinterpret_cast<std::uintptr_t>(pages.data()) % static_cast<std::uintptr_t>(bytes) != 0) return false;
  for (int axis = 0; axis < 3; ++axis) {
    if (pages.size(axis) > 1 && pages.byte_stride(axis) % bytes != 0) return false;
  }
  return true;
}

// Whether four numbers of a row may be moved at once. Blocks of q8_0 are read by their own rules.
template <class Byte>
bool page_groups_are_aligned(const BasicAnyView<Byte>& pages) {
  return pages.dtype() == DType::q8_0 || pages_are_aligned(pages, pages.dtype() == DType::f16 ? 8 : 16);
}

}  // namespace ingot
