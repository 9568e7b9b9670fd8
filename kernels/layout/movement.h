// Movement: two tensors of one shape, walked together in the order that suits the memory. Every operation of this
// family that only moves elements is one or two of these, so the vector variants have one loop to be fast in.
//
// Axes of size one are dropped, axes are sorted so that the written tensor is walked forwards, and neighbours that step
// evenly in both tensors are folded into one. A row of a block format is a stretch of bytes, so what remains has
// elements of 1, 2, 4 or 8 bytes.
#pragma once

#include <algorithm>
#include <array>

#include "kernels/contract/context.h"
#include "tensor/any_view.h"

namespace ingot {

struct Movement {
  // Precondition: one shape; one dtype too where it is a block format.
  Movement(const ConstAnyView& source, const AnyView& target);

  const std::byte* from;
  std::byte* to;
  std::int64_t from_bytes;  // of an element
  std::int64_t to_bytes;
  bool empty = false;
  int rank = 0;  // at least 1 once built; the last axis is the row
  std::array<std::int64_t, max_rank> sizes{};
  std::array<std::int64_t, max_rank> from_strides{};  // in bytes
  std::array<std::int64_t, max_rank> to_strides{};

  int last() const { return rank - 1; }
  std::int64_t length() const { return sizes[static_cast<std::size_t>(last())]; }
  std::int64_t from_step() const { return from_strides[static_cast<std::size_t>(last())]; }
  std::int64_t to_step() const { return to_strides[static_cast<std::size_t>(last())]; }
  std::int64_t rows() const {
    std::int64_t count = 1;
    for (int axis = 0; axis < last(); ++axis) count *= sizes[static_cast<std::size_t>(axis)];
    return count;
  }
  // Rows are packed on both sides.
  bool has_stretches() const { return from_step() == from_bytes && to_step() == to_bytes; }
  // An axis other than the last that is packed in the source, where the last is packed in the target: a transposition.
  // -1 where there is none.
  int transposed_axis() const;
};

// Walks the rows of a movement, from a given one on.
class MovementCursor {
 public:
  MovementCursor(const Movement& movement, std::int64_t row) : movement_(movement) {
    for (int axis = movement.last() - 1; axis >= 0; --axis) {
      const auto which = static_cast<std::size_t>(axis);
      index_[which] = row % movement.sizes[which];
      row /= movement.sizes[which];
      from_ += index_[which] * movement.from_strides[which];
      to_ += index_[which] * movement.to_strides[which];
    }
  }
  const std::byte* from() const { return movement_.from + from_; }
  std::byte* to() const { return movement_.to + to_; }
  void next() {
    for (int axis = movement_.last() - 1; axis >= 0; --axis) {
      const auto which = static_cast<std::size_t>(axis);
      from_ += movement_.from_strides[which];
      to_ += movement_.to_strides[which];
      if (++index_[which] < movement_.sizes[which]) return;
      from_ -= movement_.sizes[which] * movement_.from_strides[which];
      to_ -= movement_.sizes[which] * movement_.to_strides[which];
      index_[which] = 0;
    }
  }

 private:
  const Movement& movement_;
  std::int64_t from_ = 0;
  std::int64_t to_ = 0;
  std::array<std::int64_t, max_rank> index_{};
};

// Calls body(from, to, count) over all rows, long rows cut into segments, in chunks worth a thread.
template <class Body>
void for_each_segment(const Movement& movement, Context& context, Body&& body) {
  constexpr std::int64_t segment_bytes = 64 << 10;
  const std::int64_t element_bytes = movement.from_bytes + movement.to_bytes;
  const std::int64_t length = movement.length();
  const std::int64_t segment = std::min(length, segment_bytes / element_bytes);
  const std::int64_t segments = divide_rounding_up(length, segment);
  const std::int64_t chunk = rows_per_chunk(segment * element_bytes, segment_bytes);
  context.workers.for_chunks(movement.rows() * segments, chunk, [&](std::int64_t begin, std::int64_t end, int) {
    MovementCursor cursor(movement, begin / segments);
    std::int64_t within = begin % segments;
    for (std::int64_t item = begin; item < end; ++item) {
      const std::int64_t first = within * segment;
      body(cursor.from() + first * movement.from_step(), cursor.to() + first * movement.to_step(),
           std::min(segment, length - first));
      if (++within < segments) continue;
      within = 0;
      cursor.next();
    }
  });
}

}  // namespace ingot
