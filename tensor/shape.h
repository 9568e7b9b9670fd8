// Shape and Strides: how many elements an axis has, and how many elements apart two neighbours on it lie.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>

#include "base/units.h"

namespace ingot {

inline constexpr int max_rank = 6;

// More elements than any address space here holds; below it, products with an element's size cannot overflow.
inline constexpr std::int64_t most_elements = std::int64_t{1} << 48;

// A short list of extents, one per axis.
class Extents {
 public:
  constexpr Extents() = default;
  constexpr Extents(std::initializer_list<std::int64_t> values) {
    for (std::int64_t value : values) push_back(value);
  }
  constexpr explicit Extents(std::span<const std::int64_t> values) {
    for (std::int64_t value : values) push_back(value);
  }

  constexpr int rank() const { return rank_; }
  constexpr std::int64_t operator[](int axis) const { return values_[static_cast<std::size_t>(axis)]; }
  constexpr std::int64_t& operator[](int axis) { return values_[static_cast<std::size_t>(axis)]; }
  // Counted from the end: last(0) is the last axis. Precondition: distance < rank().
  constexpr std::int64_t last(int distance = 0) const { return (*this)[rank_ - 1 - distance]; }
  constexpr void push_back(std::int64_t value) {
    if (rank_ == max_rank) __builtin_trap();
    values_[static_cast<std::size_t>(rank_++)] = value;
  }
  constexpr const std::int64_t* begin() const { return values_.data(); }
  constexpr const std::int64_t* end() const { return values_.data() + rank_; }
  constexpr bool operator==(const Extents& other) const {
    if (rank_ != other.rank_) return false;
    for (int axis = 0; axis < rank_; ++axis) {
      if ((*this)[axis] != other[axis]) return false;
    }
    return true;
  }

 private:
  std::array<std::int64_t, max_rank> values_{};
  int rank_ = 0;
};

using Shape = Extents;
using Strides = Extents;

// The number of elements; 1 for rank 0. Precondition: no overflow (checked where a view is made from outside data).
constexpr std::int64_t element_count(const Shape& shape) {
  std::int64_t count = 1;
  for (std::int64_t size : shape) count *= size;
  return count;
}

constexpr Strides contiguous_strides(const Shape& shape) {
  Strides strides = shape;
  std::int64_t step = 1;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    strides[axis] = step;
    step *= shape[axis] > 0 ? shape[axis] : 1;
  }
  return strides;
}

template <class Text>
constexpr void describe(const Extents& extents, Text& text) {
  text.append('[');
  for (int axis = 0; axis < extents.rank(); ++axis) {
    if (axis > 0) text.append(", ");
    text.append(extents[axis]);
  }
  text.append(']');
}

// Lowest and one-past-highest element offset that a view touches, relative to its data pointer.
struct OffsetRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

// Overflow-checked: a hostile shape gets an error, not a wrapped size.
Result<OffsetRange> offset_range(const Shape& shape, const Strides& strides);

}  // namespace ingot
