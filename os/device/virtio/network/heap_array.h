// HeapArray: objects of one kind side by side on a heap, which take part in moving memory and so stay in their place.
#pragma once

#include <memory>
#include <new>
#include <span>

#include "base/result.h"
#include "os/memory/allocator.h"

namespace ingot::os {

template <class Value>
class HeapArray {
 public:
  HeapArray() = default;
  HeapArray(const HeapArray&) = delete;
  HeapArray& operator=(const HeapArray&) = delete;
  ~HeapArray() {
    std::destroy(values_.begin(), values_.end());
    if (heap_ != nullptr) heap_->free(values_.data(), values_.size_bytes(), alignof(Value));
  }

  // Once. Each is what make() returns.
  template <class Make>
  Result<void> allocate(Allocator& heap, std::size_t count, Make&& make) {
    auto* values = static_cast<Value*>(TRY(heap.allocate(count * sizeof(Value), alignof(Value))));
    heap_ = &heap;
    for (std::size_t i = 0; i < count; ++i) ::new (static_cast<void*>(values + i)) Value(make());
    values_ = {values, count};
    return {};
  }
  std::span<Value> all() const { return values_; }

 private:
  Allocator* heap_ = nullptr;
  std::span<Value> values_;
};

}  // namespace ingot::os
