// SequenceNumber: a place in a stream, modulo 2^32. Of two that lie less than 2^31 apart one is before the other.
#pragma once

#include <cstdint>

namespace ingot::os::network {

class SequenceNumber {
 public:
  constexpr SequenceNumber() = default;
  constexpr explicit SequenceNumber(std::uint32_t value) : value_(value) {}

  constexpr std::uint32_t value() const { return value_; }
  constexpr SequenceNumber operator+(std::uint32_t count) const { return SequenceNumber(value_ + count); }
  constexpr SequenceNumber operator-(std::uint32_t count) const { return SequenceNumber(value_ - count); }
  constexpr SequenceNumber& operator+=(std::uint32_t count) {
    value_ += count;
    return *this;
  }
  // How far this one is behind the other; below 0 where it is before it.
  constexpr std::int32_t operator-(SequenceNumber other) const {
    return static_cast<std::int32_t>(value_ - other.value_);
  }
  // How many lie from the other, which is not behind this one, to here.
  constexpr std::uint32_t since(SequenceNumber other) const { return value_ - other.value_; }

  constexpr bool operator==(const SequenceNumber&) const = default;
  constexpr bool operator<(SequenceNumber other) const { return *this - other < 0; }
  constexpr bool operator>(SequenceNumber other) const { return *this - other > 0; }
  constexpr bool operator<=(SequenceNumber other) const { return *this - other <= 0; }
  constexpr bool operator>=(SequenceNumber other) const { return *this - other >= 0; }

 private:
  std::uint32_t value_ = 0;
};

constexpr SequenceNumber later(SequenceNumber left, SequenceNumber right) { return left > right ? left : right; }
constexpr SequenceNumber earlier(SequenceNumber left, SequenceNumber right) { return left < right ? left : right; }

// [begin, end) of a stream.
struct SequenceRange {
  SequenceNumber begin, end;

  constexpr bool operator==(const SequenceRange&) const = default;
  constexpr bool is_empty() const { return end <= begin; }
  constexpr std::uint32_t bytes() const { return is_empty() ? 0 : end.since(begin); }
};

}  // namespace ingot::os::network
