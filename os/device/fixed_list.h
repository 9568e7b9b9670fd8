// FixedList: up to a number of elements, without a heap. What does not fit is refused, and whoever adds says so.
#pragma once

#include <array>
#include <cstddef>
#include <span>

namespace ingot::os {

template <class Element, std::size_t capacity>
class FixedList {
 public:
  bool add(const Element& element) {
    if (count_ == capacity) return false;
    elements_[count_++] = element;
    return true;
  }
  std::size_t size() const { return count_; }
  std::span<const Element> all() const { return std::span(elements_).first(count_); }
  const Element& operator[](std::size_t index) const { return all()[index]; }

 private:
  std::array<Element, capacity> elements_{};
  std::size_t count_ = 0;
};

}  // namespace ingot::os
