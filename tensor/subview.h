// Views of the same bytes: an axis swapped, a slice, windows. What View<T> does for one type, for tensors of any type.
// The caller has checked the arguments; nothing here can fail.
#pragma once

#include <utility>

#include "tensor/any_view.h"

namespace ingot {

constexpr bool has_elements(const Shape& shape) {
  for (std::int64_t size : shape) {
    if (size == 0) return false;
  }
  return true;
}

// How many of begin, begin + step, ... lie below end. Written so that no step overflows.
constexpr std::int64_t slice_size(std::int64_t begin, std::int64_t end, std::int64_t step) {
  return begin >= end ? 0 : (end - begin - 1) / step + 1;
}

constexpr std::int64_t window_count(std::int64_t size, std::int64_t length, std::int64_t step) {
  return (size - length) / step + 1;
}

// Precondition: both axes exist; neither is the last axis of a block format.
template <class Byte>
BasicAnyView<Byte> transposed(const BasicAnyView<Byte>& view, std::int64_t axis_a, std::int64_t axis_b) {
  Shape shape = view.shape();
  Strides strides = view.byte_strides();
  std::swap(shape[static_cast<int>(axis_a)], shape[static_cast<int>(axis_b)]);
  std::swap(strides[static_cast<int>(axis_a)], strides[static_cast<int>(axis_b)]);
  return BasicAnyView<Byte>(view.data(), view.dtype(), shape, strides, view.place());
}

// Precondition: 0 <= begin <= end <= size, step >= 1; on the last axis of a block format, whole blocks and step 1.
template <class Byte>
BasicAnyView<Byte> sliced(const BasicAnyView<Byte>& view, std::int64_t axis, std::int64_t begin, std::int64_t end,
                          std::int64_t step = 1) {
  const int which = static_cast<int>(axis);
  Shape shape = view.shape();
  Strides strides = view.byte_strides();
  shape[which] = slice_size(begin, end, step);
  if (!has_elements(shape)) return BasicAnyView<Byte>(view.data(), view.dtype(), shape, strides, view.place());
  const std::int64_t blocks = which == view.rank() - 1 ? begin / block_elements(view.dtype()) : begin;
  // One element has no neighbour, and a stride of its own could overflow for it.
  Byte* data = blocks == 0 ? view.data() : view.data() + blocks * strides[which];
  if (shape[which] > 1) strides[which] *= step;
  return BasicAnyView<Byte>(data, view.dtype(), shape, strides, view.place());
}

// Overlapping windows along the last axis, as View::windows. Precondition: 1 <= length <= last axis, step >= 1, rank
// below max_rank, a plain dtype.
template <class Byte>
BasicAnyView<Byte> windowed(const BasicAnyView<Byte>& view, std::int64_t length, std::int64_t step) {
  const int last = view.rank() - 1;
  Shape shape = view.shape();
  Strides strides = view.byte_strides();
  shape.push_back(length);
  strides.push_back(strides[last]);
  shape[last] = window_count(view.size(last), length, step);
  if (has_elements(shape) && shape[last] > 1) strides[last] *= step;
  return BasicAnyView<Byte>(view.data(), view.dtype(), shape, strides, view.place());
}

}  // namespace ingot
