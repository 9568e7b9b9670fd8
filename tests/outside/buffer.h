// Buffer: memory for one argument of an operation, made from a case's tensor or blank.
#pragma once

#include <cstring>

#include "kernels/contract/fields.h"
#include "tests/outside/host_tensor.h"

namespace ingot::outside {

// Leading axes that are more than a view may have are joined into one.
inline Shape to_shape(const Sizes& sizes) {
  Shape shape;
  const std::size_t joined = sizes.size() > max_rank ? sizes.size() - max_rank + 1 : 0;
  if (joined > 0) shape.push_back(count_of(Sizes(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(joined))));
  for (std::size_t axis = joined; axis < sizes.size(); ++axis) shape.push_back(sizes[axis]);
  return shape;
}

template <class Element>
class Buffer {
 public:
  Buffer() = default;  // absent: its views are not present
  // Blank: filled with bytes that make a poor result visible.
  explicit Buffer(const Sizes& shape) : shape_(shape), elements_(static_cast<std::size_t>(count_of(shape)) + 1) {
    std::memset(static_cast<void*>(elements_.data()), 0xa5, elements_.size() * sizeof(Element));
  }
  explicit Buffer(const HostTensor& tensor) : shape_(tensor.shape), elements_(tensor.values.size() + 1) {
    for (std::size_t index = 0; index < tensor.values.size(); ++index) {
      if constexpr (std::is_arithmetic_v<Element>) {
        elements_[index] = static_cast<Element>(tensor.values[index]);
      } else {
        elements_[index] = Element(static_cast<float>(tensor.values[index]));
      }
    }
  }
  // Absent where the case left the tensor out.
  explicit Buffer(const HostTensor* tensor) {
    if (tensor != nullptr) *this = Buffer(*tensor);
  }

  View<Element> view() {
    return elements_.empty() ? View<Element>() : View<Element>(elements_.data(), to_shape(shape_));
  }
  View<Element> view(const Sizes& shape) { return View<Element>(elements_.data(), to_shape(shape)); }

  std::vector<double> values() const {
    std::vector<double> values;
    for (std::size_t index = 0; index + 1 < elements_.size(); ++index) {
      if constexpr (std::is_arithmetic_v<Element>) {
        values.push_back(static_cast<double>(elements_[index]));
      } else {
        values.push_back(static_cast<double>(static_cast<float>(elements_[index])));
      }
    }
    return values;
  }
  HostTensor host(std::string dtype = "f32") const { return {std::move(dtype), shape_, values()}; }

 private:
  Sizes shape_;
  std::vector<Element> elements_;  // one more than asked for, so that an empty tensor has an address too
};

using Floats = Buffer<float>;

}  // namespace ingot::outside
