// Segments: tensors of one shape cut into equal stretches of elements, the pieces in which update rules share out work.
//
// A training run keeps its parameters in one long row, so rows alone would leave all but one thread idle; and where no
// tensor has gaps, rows need not be told apart at all. The cut depends on shape and strides only, never on threads.
#pragma once

#include <algorithm>
#include <array>
#include <span>

#include "kernels/contract/context.h"
#include "tensor/rows.h"

namespace ingot {

inline constexpr std::int64_t segment_elements = 4096;  // 16 KiB of each tensor: an update's tensors share the L1 cache

class Segments {
 public:
  // Precondition: all tensors have the same shape, of rank 1 or more, and packed last axes.
  template <std::size_t Count>
  explicit Segments(const std::array<View<const float>, Count>& tensors) {
    const View<const float>& first = tensors[0];
    folded_ = std::all_of(tensors.begin(), tensors.end(), [](const auto& view) { return view.is_contiguous(); });
    length_ = folded_ ? first.count() : first.shape().last();
    rows_ = folded_ ? 1 : (length_ == 0 ? 0 : first.count() / length_);
    per_row_ = divide_rounding_up(length_, segment_elements);
    tensor_count_ = static_cast<std::int64_t>(Count);
  }

  std::int64_t count() const { return rows_ * per_row_; }
  // Short rows are handed out several at a time.
  std::int64_t per_chunk() const {
    return rows_per_chunk(std::min(length_, segment_elements) * tensor_count_ * std::int64_t{sizeof(float)});
  }
  std::int64_t begin(std::int64_t segment) const { return segment % per_row_ * segment_elements; }
  std::int64_t length(std::int64_t segment) const { return std::min(segment_elements, length_ - begin(segment)); }

  // The first element of a segment in one of the tensors.
  template <class Element>
  Element* start(const View<Element>& tensor, const Rows<Element>& rows, std::int64_t segment) const {
    return (folded_ ? tensor.data() : rows[segment / per_row_]) + begin(segment);
  }

 private:
  bool folded_;
  std::int64_t length_;
  std::int64_t rows_;
  std::int64_t per_row_;
  std::int64_t tensor_count_;
};

}  // namespace ingot
