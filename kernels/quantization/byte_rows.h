// The rows of a view whose element type is known at run time, by the address of their first byte.
#pragma once

#include "tensor/any_view.h"
#include "tensor/rows.h"

namespace ingot {

// Its last axis counts elements, and must not be walked along.
template <class Byte>
View<Byte> byte_view(const BasicAnyView<Byte>& view) {
  return View<Byte>(view.data(), view.shape(), view.byte_strides(), view.place());
}

// Precondition: view.rank() >= 1.
template <class Byte>
Rows<Byte> byte_rows(const BasicAnyView<Byte>& view) {
  return Rows<Byte>(byte_view(view));
}

// The bytes that all elements of a view take.
inline double stored_bytes(const ConstAnyView& view) {
  return static_cast<double>(view.count()) / block_elements(view.dtype()) * block_bytes(view.dtype());
}

}  // namespace ingot
