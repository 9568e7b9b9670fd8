// GradientSum: a tensor's gradient, added up in double and written once. A tensor that several heads, channels or
// tokens share receives terms in any order; floats would round each of them.
#pragma once

#include <vector>

#include "tensor/view.h"

namespace ingot {

class GradientSum {
 public:
  // An absent target takes sums like any other, and writes nothing.
  GradientSum(const View<float>& target, const Shape& shape)
      : target_(target), shape_(shape), sums_(static_cast<std::size_t>(element_count(shape)), 0.0) {}

  template <class... Index>
  double& operator()(Index... index) {
    std::int64_t place = 0;
    int axis = 0;
    ((place = place * shape_[axis++] + index), ...);
    return sums_[static_cast<std::size_t>(place)];
  }

  void write() const {
    if (target_.data() == nullptr) return;
    std::int64_t index[max_rank] = {};
    for (double sum : sums_) {
      std::int64_t offset = 0;
      for (int axis = 0; axis < shape_.rank(); ++axis) offset += index[axis] * target_.stride(axis);
      target_.data()[offset] = static_cast<float>(sum);
      for (int axis = shape_.rank() - 1; axis >= 0 && ++index[axis] == shape_[axis]; --axis) index[axis] = 0;
    }
  }

 private:
  View<float> target_;
  Shape shape_;
  std::vector<double> sums_;
};

}  // namespace ingot
