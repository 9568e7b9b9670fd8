// BoundedList: a few values in order, without memory of its own beside them.
#pragma once

#include <array>
#include <cstddef>
#include <utility>

namespace ingot::os::network {

template <class Element, std::size_t capacity>
class BoundedList {
 public:
  Element* begin() { return elements_.data(); }
  Element* end() { return elements_.data() + size_; }
  const Element* begin() const { return elements_.data(); }
  const Element* end() const { return elements_.data() + size_; }
  std::size_t size() const { return size_; }
  bool is_empty() const { return size_ == 0; }
  bool is_full() const { return size_ == capacity; }
  bool operator==(const BoundedList& other) const {
    if (size_ != other.size_) return false;
    for (std::size_t i = 0; i < size_; ++i) {
      if (elements_[i] != other.elements_[i]) return false;
    }
    return true;
  }

  // False: full.
  bool push_back(const Element& element) {
    if (is_full()) return false;
    elements_[size_++] = element;
    return true;
  }
  // Whether any was.
  template <class Predicate>
  bool remove_if(Predicate&& predicate) {
    const std::size_t before = size_;
    size_ = 0;
    for (std::size_t i = 0; i < before; ++i) {
      if (!predicate(elements_[i])) elements_[size_++] = elements_[i];
    }
    return size_ != before;
  }
  // nullptr: none. Loops as they stand: the library's are unrolled, and there are few to look at.
  template <class Predicate>
  const Element* find_if(Predicate&& predicate) const {
    for (const Element& element : *this) {
      if (predicate(element)) return &element;
    }
    return nullptr;
  }
  template <class Predicate>
  Element* find_if(Predicate&& predicate) {
    return const_cast<Element*>(std::as_const(*this).find_if(predicate));
  }
  template <class Predicate>
  std::size_t count_if(Predicate&& predicate) const {
    std::size_t count = 0;
    for (const Element& element : *this) count += predicate(element) ? 1 : 0;
    return count;
  }

 private:
  std::array<Element, capacity> elements_{};
  std::size_t size_ = 0;
};

}  // namespace ingot::os::network
