// Atomic<T>: one value that several CPUs read and write. The standard's <atomic> needs a hosted library, so this wraps
// the compiler's builtins. Every access names its order: a reader sees at the access what it promises.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace ingot {

enum class MemoryOrder : int {
  relaxed = __ATOMIC_RELAXED,                 // atomic, and says nothing about other memory
  acquire = __ATOMIC_ACQUIRE,                 // later accesses stay later: taking a lock
  release = __ATOMIC_RELEASE,                 // earlier accesses stay earlier: giving a lock back
  acquire_release = __ATOMIC_ACQ_REL,         // both, for one that reads and writes
  sequentially_consistent = __ATOMIC_SEQ_CST  // all such accesses of all CPUs have one order
};

// A test that explores interleavings defines INGOT_OBSERVE_ATOMICS and this function: it is called before every access,
// the only moments at which one CPU can see what another did.
enum class AtomicAccess { read, write };
#ifdef INGOT_OBSERVE_ATOMICS
void before_atomic_access(AtomicAccess);
#else
constexpr void before_atomic_access(AtomicAccess) {}
#endif

template <class Value>
  requires(std::is_trivially_copyable_v<Value> && sizeof(Value) <= 8)
class Atomic {
 public:
  constexpr Atomic() = default;
  constexpr explicit Atomic(Value value) : value_(value) {}
  Atomic(const Atomic&) = delete;
  Atomic& operator=(const Atomic&) = delete;

  Value load(MemoryOrder order) const {
    before_atomic_access(AtomicAccess::read);
    Value value;
    __atomic_load(&value_, &value, static_cast<int>(order));
    return value;
  }
  void store(Value value, MemoryOrder order) {
    before_atomic_access(AtomicAccess::write);
    __atomic_store(&value_, &value, static_cast<int>(order));
  }
  Value exchange(Value value, MemoryOrder order) {
    before_atomic_access(AtomicAccess::write);
    Value previous;
    __atomic_exchange(&value_, &value, &previous, static_cast<int>(order));
    return previous;
  }
  // Writes `desired` if the value is `expected`; else leaves it and tells it in `expected`. Never fails without reason.
  bool compare_exchange(Value& expected, Value desired, MemoryOrder order) {
    before_atomic_access(AtomicAccess::write);
    return __atomic_compare_exchange(&value_, &expected, &desired, /*weak=*/false, static_cast<int>(order),
                                     static_cast<int>(order_of_failure(order)));
  }

  // These return the value before the change.
  Value fetch_add(Value amount, MemoryOrder order)
    requires std::integral<Value>
  {
    before_atomic_access(AtomicAccess::write);
    return __atomic_fetch_add(&value_, amount, static_cast<int>(order));
  }
  Value fetch_subtract(Value amount, MemoryOrder order)
    requires std::integral<Value>
  {
    before_atomic_access(AtomicAccess::write);
    return __atomic_fetch_sub(&value_, amount, static_cast<int>(order));
  }
  Value fetch_or(Value bits, MemoryOrder order)
    requires std::integral<Value>
  {
    before_atomic_access(AtomicAccess::write);
    return __atomic_fetch_or(&value_, bits, static_cast<int>(order));
  }
  Value fetch_and(Value bits, MemoryOrder order)
    requires std::integral<Value>
  {
    before_atomic_access(AtomicAccess::write);
    return __atomic_fetch_and(&value_, bits, static_cast<int>(order));
  }

 private:
  // A failed exchange writes nothing, so there is nothing to release.
  static constexpr MemoryOrder order_of_failure(MemoryOrder order) {
    if (order == MemoryOrder::acquire_release) return MemoryOrder::acquire;
    return order == MemoryOrder::release ? MemoryOrder::relaxed : order;
  }

  alignas(sizeof(Value)) Value value_{};  // NOLINT(bugprone-sizeof-expression): of a pointer, its own size is meant
};

// Orders the accesses around it without an access of its own.
inline void atomic_fence(MemoryOrder order) { __atomic_thread_fence(static_cast<int>(order)); }

}  // namespace ingot
