// Owned<T>: one object on a heap, destroyed and given back with its owner.
#pragma once

#include <memory>
#include <utility>

#include "base/result.h"
#include "os/memory/allocator.h"

namespace ingot::os {

template <class Value>
class Owned {
 public:
  Owned() = default;
  Owned(Value* value, Allocator& heap) : value_(value), heap_(&heap) {}
  Owned(Owned&& other) noexcept : value_(std::exchange(other.value_, nullptr)), heap_(other.heap_) {}
  Owned& operator=(Owned&& other) noexcept {
    if (this == &other) return *this;
    reset();
    value_ = std::exchange(other.value_, nullptr);
    heap_ = other.heap_;
    return *this;
  }
  ~Owned() { reset(); }

  Value& operator*() const { return *value_; }
  Value* operator->() const { return value_; }
  Value* get() const { return value_; }
  explicit operator bool() const { return value_ != nullptr; }

  // It is the caller's from now on.
  Value* release() { return std::exchange(value_, nullptr); }
  void reset() {
    if (value_ == nullptr) return;
    std::destroy_at(value_);
    heap_->free(std::exchange(value_, nullptr), sizeof(Value), alignof(Value));
  }

 private:
  Value* value_ = nullptr;
  Allocator* heap_ = nullptr;
};

template <class Value, class... Arguments>
Result<Owned<Value>> make_owned(Allocator& heap, Arguments&&... arguments) {
  void* block = TRY(heap.allocate(sizeof(Value), alignof(Value)));
  return Owned<Value>(std::construct_at(static_cast<Value*>(block), std::forward<Arguments>(arguments)...), heap);
}

}  // namespace ingot::os
