// AnyView: a view whose element type is known at run time. Arguments of operations that take many dtypes use it, and so
// does everything written once over all operations. Strides are in bytes, so that block formats fit too: the last axis
// of a block format is packed, and a step along any other axis is a whole number of blocks.
#pragma once

#include <cstddef>

#include "tensor/view.h"

namespace ingot {

constexpr std::int64_t row_bytes(DType dtype, std::int64_t elements) {
  return elements / block_elements(dtype) * block_bytes(dtype);
}

constexpr Strides contiguous_byte_strides(DType dtype, const Shape& shape) {
  Strides strides = shape;
  std::int64_t step = block_bytes(dtype);
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    strides[axis] = step;
    const std::int64_t size = shape[axis] > 0 ? shape[axis] : 1;
    step = axis == shape.rank() - 1 ? (shape[axis] > 0 ? row_bytes(dtype, size) : step) : step * size;
  }
  return strides;
}

template <class Byte>
class BasicAnyView {
 public:
  constexpr BasicAnyView() = default;
  constexpr BasicAnyView(Byte* data, DType dtype, const Shape& shape)
      : BasicAnyView(data, dtype, shape, contiguous_byte_strides(dtype, shape)) {}
  constexpr BasicAnyView(Byte* data, DType dtype, const Shape& shape, const Strides& byte_strides,
                         Place place = Place::host)
      : data_(data), shape_(shape), byte_strides_(byte_strides), dtype_(dtype), place_(place) {}
  // A mutable view reads as a constant one. (A template, so that it never stands in for the copy constructor.)
  template <class Mutable>
    requires(std::is_const_v<Byte> && std::is_same_v<const Mutable, Byte>)
  constexpr BasicAnyView(const BasicAnyView<Mutable>& other)
      : BasicAnyView(other.data(), other.dtype(), other.shape(), other.byte_strides(), other.place()) {}

  template <class Element>
    requires(std::is_const_v<Byte> || !std::is_const_v<Element>)
  BasicAnyView(const View<Element>& view)
      : data_(reinterpret_cast<Byte*>(view.data())),
        shape_(view.shape()),
        byte_strides_(view.strides()),
        dtype_(dtype_of<Element>()),
        place_(view.place()) {
    for (int axis = 0; axis < view.rank(); ++axis) {
      byte_strides_[axis] *= static_cast<std::int64_t>(sizeof(Element));
    }
  }

  constexpr Byte* data() const { return data_; }
  constexpr DType dtype() const { return dtype_; }
  constexpr const Shape& shape() const { return shape_; }
  constexpr const Strides& byte_strides() const { return byte_strides_; }
  constexpr Place place() const { return place_; }
  constexpr int rank() const { return shape_.rank(); }
  constexpr std::int64_t size(int axis) const { return shape_[axis]; }
  constexpr std::int64_t byte_stride(int axis) const { return byte_strides_[axis]; }
  constexpr std::int64_t count() const { return element_count(shape_); }
  constexpr bool empty() const { return count() == 0; }
  constexpr bool is_contiguous() const {
    const Strides packed = contiguous_byte_strides(dtype_, shape_);
    for (int axis = 0; axis < rank(); ++axis) {
      if (shape_[axis] != 1 && byte_strides_[axis] != packed[axis]) return false;
    }
    return true;
  }
  // The last axis is one stretch of elements or blocks.
  constexpr bool has_contiguous_rows() const {
    return rank() == 0 || shape_.last() <= block_elements(dtype_) || byte_strides_.last() == block_bytes(dtype_);
  }

  // The typed view. Precondition: dtype() == dtype_of<Element>() and byte strides are multiples of the element's size.
  template <class Element>
  View<Element> as() const {
    Strides strides = byte_strides_;
    for (int axis = 0; axis < rank(); ++axis) strides[axis] /= static_cast<std::int64_t>(sizeof(Element));
    return View<Element>(reinterpret_cast<Element*>(data_), shape_, strides, place_);
  }

  // Address of row (index of all axes but the last). Precondition: rank() == 2.
  constexpr Byte* row(std::int64_t index) const { return data_ + index * byte_strides_[0]; }

 private:
  Byte* data_ = nullptr;
  Shape shape_;
  Strides byte_strides_;
  DType dtype_ = DType::f32;
  Place place_ = Place::host;
};

using AnyView = BasicAnyView<std::byte>;
using ConstAnyView = BasicAnyView<const std::byte>;

// Calls visit(byte offset of the element or block from view.data()) for every element or block of the view.
template <class Visit>
void for_each_block(const ConstAnyView& view, Visit&& visit) {
  if (view.empty()) return;
  Shape blocks = view.shape();
  if (view.rank() > 0) blocks[view.rank() - 1] /= block_elements(view.dtype());
  std::int64_t index[max_rank] = {};
  while (true) {
    std::int64_t offset = 0;
    for (int axis = 0; axis < view.rank(); ++axis) offset += index[axis] * view.byte_stride(axis);
    visit(offset);
    int axis = view.rank() - 1;
    while (axis >= 0 && ++index[axis] == blocks[axis]) index[axis--] = 0;
    if (axis < 0) return;
  }
}

// Whether a view can be used at all: sizes, strides, alignment, block multiples, a pointer where there are elements.
Result<void> check_well_formed(const ConstAnyView& view);

}  // namespace ingot
