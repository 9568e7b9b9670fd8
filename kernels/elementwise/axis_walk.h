// Walks several tensors of one shape together. Broadcasting is a stride of 0, so one walk serves every layout.
#pragma once

#include <algorithm>
#include <array>

#include "kernels/contract/context.h"
#include "tensor/view.h"

namespace ingot {

template <int tensors>
using Offsets = std::array<std::int64_t, tensors>;

// A counter over some axes: index -> where that index lies in each tensor. The axis added first turns fastest.
template <int tensors>
class AxisWalk {
 public:
  void add(std::int64_t size, const Offsets<tensors>& strides) {
    count_ *= size;
    if (size == 1) return;
    sizes_[rank_] = size;
    strides_[rank_++] = strides;
  }
  std::int64_t count() const { return count_; }
  Offsets<tensors> operator[](std::int64_t index) const {
    Offsets<tensors> offsets{};
    for (int axis = 0; axis < rank_; ++axis) {
      const std::int64_t position = axis + 1 == rank_ ? index : index % sizes_[axis];
      index /= sizes_[axis];
      for (int tensor = 0; tensor < tensors; ++tensor) offsets[tensor] += position * strides_[axis][tensor];
    }
    return offsets;
  }

 private:
  std::int64_t count_ = 1;
  std::int64_t sizes_[max_rank] = {};
  Offsets<tensors> strides_[max_rank] = {};
  int rank_ = 0;
};

// Whether the last tensor of a joint walk may stand still along a row: one value for all.
enum class LastTensor : std::uint8_t { steps, may_repeat };

// The longest rows in which every tensor steps by 1, and a walk over them. Axes that continue each other are joined:
// contiguous tensors of one shape are a single row.
template <int tensors, LastTensor last = LastTensor::steps>
class JointRows {
 public:
  // Strides are those of each tensor broadcast to `shape`.
  JointRows(const Shape& shape, const std::array<Strides, tensors>& strides) {
    auto strides_at = [&](int axis) {
      Offsets<tensors> steps{};
      for (int tensor = 0; tensor < tensors; ++tensor) steps[tensor] = strides[tensor][axis];
      return steps;
    };
    int axis = shape.rank() - 1;
    while (axis > 0 && shape[axis] == 1) --axis;
    if (steps_are_unit(strides_at(axis))) {
      inner_ = strides_at(axis);
      length_ = shape[axis--];
    }
    for (; axis >= 0 && continues(strides_at(axis)); --axis) length_ *= shape[axis];
    for (; axis >= 0; --axis) walk_.add(shape[axis], strides_at(axis));
  }

  std::int64_t count() const { return length_ == 0 ? 0 : walk_.count(); }
  std::int64_t length() const { return length_; }
  bool last_repeats() const { return inner_[tensors - 1] == 0; }

  // Calls task(offsets, elements) for pieces of rows, shared among the workers. Pieces are 64 KiB a tensor: long enough
  // to amortise the call, and their bounds come from the shape alone.
  template <class Task>
  void for_pieces(Workers& workers, Task&& task) const {
    constexpr std::int64_t piece = 16 << 10;
    if (count() == 0) return;
    const std::int64_t pieces = divide_rounding_up(length_, piece);
    const std::int64_t bytes = std::min(length_, piece) * tensors * static_cast<std::int64_t>(sizeof(float));
    workers.for_chunks(count() * pieces, rows_per_chunk(bytes), [&](std::int64_t begin, std::int64_t end, int) {
      for (std::int64_t item = begin; item < end; ++item) {
        const std::int64_t first = item % pieces * piece;
        Offsets<tensors> offsets = walk_[item / pieces];
        for (int tensor = 0; tensor < tensors; ++tensor) offsets[tensor] += first * inner_[tensor];
        task(offsets, std::min(piece, length_ - first));
      }
    });
  }

 private:
  static bool steps_are_unit(const Offsets<tensors>& steps) {
    for (int tensor = 0; tensor < tensors; ++tensor) {
      const bool may_repeat = last == LastTensor::may_repeat && tensor + 1 == tensors;
      if (steps[tensor] != 1 && !(steps[tensor] == 0 && may_repeat)) return false;
    }
    return true;
  }
  bool continues(const Offsets<tensors>& steps) const {
    for (int tensor = 0; tensor < tensors; ++tensor) {
      if (steps[tensor] != inner_[tensor] * length_) return false;
    }
    return length_ > 1;
  }

  std::int64_t length_ = 1;
  Offsets<tensors> inner_{};
  AxisWalk<tensors> walk_;
};

// A tensor's strides when it is repeated to `shape`. Precondition: it can be (the contracts check it).
template <class Element>
Strides strides_within(const View<Element>& view, const Shape& shape) {
  return view.broadcast_to(shape).value().strides();
}

}  // namespace ingot
