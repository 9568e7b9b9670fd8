// Shared and Reference<T>: an object on a heap with several owners; the last one destroys it. The count lies inside the
// object, and so does the way to destroy it: kernel classes have no virtual destructors, which would need a global
// heap.
//
//   class Pipe final : public Shared { ... };
//   Reference<Pipe> pipe = TRY(make_reference<Pipe>(heap, arguments...));
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/atomic.h"
#include "base/result.h"
#include "os/memory/allocator.h"

namespace ingot::os {

class Shared {
 public:
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;

  // Whoever adds an owner is one, so the count cannot fall to 0 meanwhile: no order is needed.
  void add_reference() { references_.fetch_add(1, MemoryOrder::relaxed); }
  // For somebody who is no owner, but knows that the object is still there: its destructor would have to pass him.
  // False when the last owner has gone.
  [[nodiscard]] bool try_add_reference() {
    std::uint32_t count = references();
    while (count != 0) {
      if (references_.compare_exchange(count, count + 1, MemoryOrder::relaxed)) return true;
    }
    return false;
  }
  // What each owner wrote must be seen by the one who destroys.
  void drop_reference() {
    if (references_.fetch_subtract(1, MemoryOrder::acquire_release) == 1) destroy_(*this, *heap_);
  }
  // Exact only for who is the last owner.
  std::uint32_t references() const { return references_.load(MemoryOrder::relaxed); }

 protected:
  Shared() = default;
  ~Shared() = default;

 private:
  template <class Value, class... Arguments>
  friend auto make_reference(Allocator& heap, Arguments&&... arguments);

  Atomic<std::uint32_t> references_{1};
  Allocator* heap_ = nullptr;
  void (*destroy_)(Shared& object, Allocator& heap) = nullptr;
};

template <class Value>
class Reference {
 public:
  Reference() = default;
  Reference(decltype(nullptr)) {}
  // One more owner of an object that has some.
  explicit Reference(Value& value) : value_(&value) { value_->add_reference(); }
  // Takes over an ownership that was already counted.
  static Reference adopt(Value& value) {
    Reference reference;
    reference.value_ = &value;
    return reference;
  }

  Reference(const Reference& other) : value_(other.value_) { add(); }
  Reference(Reference&& other) noexcept : value_(std::exchange(other.value_, nullptr)) {}
  template <class Derived>
    requires std::derived_from<Derived, Value>
  Reference(const Reference<Derived>& other) : value_(other.get()) {
    add();
  }
  template <class Derived>
    requires std::derived_from<Derived, Value>
  Reference(Reference<Derived>&& other) noexcept : value_(other.leak()) {}
  Reference& operator=(Reference other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~Reference() { reset(); }

  Value& operator*() const { return *value_; }
  Value* operator->() const { return value_; }
  Value* get() const { return value_; }
  explicit operator bool() const { return value_ != nullptr; }
  bool operator==(const Reference& other) const { return value_ == other.value_; }

  void reset() {
    if (Value* value = leak(); value != nullptr) value->drop_reference();
  }
  // The ownership goes to the caller, uncounted.
  [[nodiscard]] Value* leak() { return std::exchange(value_, nullptr); }

 private:
  void add() {
    if (value_ != nullptr) value_->add_reference();
  }

  Value* value_ = nullptr;
};

template <class Value, class... Arguments>
auto make_reference(Allocator& heap, Arguments&&... arguments) {
  using Made = Result<Reference<Value>>;
  Result<void*> block = heap.allocate(sizeof(Value), alignof(Value));
  if (!block.ok()) return Made(block.error());
  Value* value = std::construct_at(static_cast<Value*>(block.value()), std::forward<Arguments>(arguments)...);
  Shared& shared = *value;
  shared.heap_ = &heap;
  shared.destroy_ = [](Shared& object, Allocator& owner) {
    Value& dying = static_cast<Value&>(object);
    std::destroy_at(&dying);
    owner.free(&dying, sizeof(Value), alignof(Value));
  };
  return Made(Reference<Value>::adopt(*value));
}

}  // namespace ingot::os
