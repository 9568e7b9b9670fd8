// Units as types, so that bytes are not added to nanoseconds, and arithmetic that may overflow says so.
#pragma once

#include <compare>
#include <cstdint>

#include "base/result.h"

namespace ingot {

template <class Tag, class Representation>
class Unit {
 public:
  constexpr Unit() = default;
  constexpr explicit Unit(Representation count) : count_(count) {}

  constexpr Representation count() const { return count_; }
  constexpr auto operator<=>(const Unit&) const = default;

  constexpr Unit operator+(Unit other) const { return Unit(count_ + other.count_); }
  constexpr Unit operator-(Unit other) const { return Unit(count_ - other.count_); }
  constexpr Unit operator*(Representation factor) const { return Unit(count_ * factor); }
  constexpr Unit& operator+=(Unit other) {
    count_ += other.count_;
    return *this;
  }

 private:
  Representation count_{};
};

using Bytes = Unit<struct BytesTag, std::uint64_t>;
using Nanoseconds = Unit<struct NanosecondsTag, std::int64_t>;

namespace literals {
constexpr Bytes operator""_KiB(unsigned long long count) { return Bytes(count << 10); }
constexpr Bytes operator""_MiB(unsigned long long count) { return Bytes(count << 20); }
constexpr Bytes operator""_GiB(unsigned long long count) { return Bytes(count << 30); }
}  // namespace literals

inline Result<std::int64_t> checked_multiply(std::int64_t left, std::int64_t right) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(left, right, &product)) {
    return Error::of(ErrorCode::overflow, "expected a product that fits 64 bits, found ", left, " x ", right);
  }
  return product;
}

inline Result<std::int64_t> checked_add(std::int64_t left, std::int64_t right) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(left, right, &sum)) {
    return Error::of(ErrorCode::overflow, "expected a sum that fits 64 bits, found ", left, " + ", right);
  }
  return sum;
}

constexpr std::int64_t divide_rounding_up(std::int64_t dividend, std::int64_t divisor) {
  return (dividend + divisor - 1) / divisor;
}

// Precondition: alignment is a power of two.
constexpr std::uint64_t align_up(std::uint64_t value, std::uint64_t alignment) {
  return (value + alignment - 1) & ~(alignment - 1);
}

}  // namespace ingot
