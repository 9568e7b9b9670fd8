// Rows: a view of any rank seen as a list of its last-axis rows, which is how most kernels walk it.
#pragma once

#include "tensor/view.h"

namespace ingot {

// Precondition: view.rank() >= 1. The last axis keeps its stride (see stride()); kernels that need it to be 1 say so in
// their constraints.
template <class Element>
class Rows {
 public:
  explicit Rows(const View<Element>& view)
      : data_(view.data()), length_(view.shape().last()), stride_(view.strides().last()) {
    if (view.empty()) {  // perhaps without data: rows of nothing all lie at the same place
      for (int axis = 0; axis < view.rank() - 1; ++axis) count_ *= view.size(axis);
      return;
    }
    // Fold axes that step evenly into one, so that the common cases need one multiplication a row.
    for (int axis = 0; axis < view.rank() - 1; ++axis) {
      count_ *= view.size(axis);
      if (view.size(axis) == 1) continue;
      if (rank_ > 0 && strides_[rank_ - 1] == view.stride(axis) * view.size(axis)) {
        sizes_[rank_ - 1] *= view.size(axis);
        strides_[rank_ - 1] = view.stride(axis);
      } else {
        sizes_[rank_] = view.size(axis);
        strides_[rank_++] = view.stride(axis);
      }
    }
  }

  std::int64_t count() const { return count_; }
  std::int64_t length() const { return length_; }
  std::int64_t stride() const { return stride_; }  // between neighbours within a row

  Element* operator[](std::int64_t row) const {
    if (rank_ <= 1) return data_ + row * strides_[0];
    std::int64_t offset = 0;
    for (int axis = rank_ - 1; axis > 0; --axis) {
      offset += row % sizes_[axis] * strides_[axis];
      row /= sizes_[axis];
    }
    return data_ + offset + row * strides_[0];
  }

 private:
  Element* data_;
  std::int64_t count_ = 1;
  std::int64_t length_;
  std::int64_t stride_;
  std::int64_t sizes_[max_rank] = {1};
  std::int64_t strides_[max_rank] = {0};
  int rank_ = 0;
};

}  // namespace ingot
