// Where memory is, as types: a physical address is never followed by mistake, a frame number never taken for an
// address.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>

namespace ingot::os {

inline constexpr std::uint64_t page_bits = 12;
inline constexpr std::uint64_t page_bytes = std::uint64_t{1} << page_bits;  // 4 KiB
inline constexpr std::uint64_t large_page_bytes = std::uint64_t{2} << 20;   // 2 MiB
inline constexpr std::uint64_t giant_page_bytes = std::uint64_t{1} << 30;   // 1 GiB
inline constexpr std::uint64_t frames_per_large_page = large_page_bytes / page_bytes;
inline constexpr std::uint64_t frames_per_giant_page = giant_page_bytes / page_bytes;

// Precondition of both: alignment is a power of two. Rounding up past the last address wraps to 0.
constexpr std::uint64_t round_down(std::uint64_t value, std::uint64_t alignment) { return value & ~(alignment - 1); }
constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t alignment) {
  return (value + alignment - 1) & ~(alignment - 1);
}
constexpr bool is_aligned(std::uint64_t value, std::uint64_t alignment) { return (value & (alignment - 1)) == 0; }

template <class Tag>
class Address {
 public:
  constexpr Address() = default;
  constexpr explicit Address(std::uint64_t value) : value_(value) {}

  constexpr std::uint64_t value() const { return value_; }
  constexpr auto operator<=>(const Address&) const = default;

  constexpr Address operator+(std::uint64_t bytes) const { return Address(value_ + bytes); }
  constexpr Address operator-(std::uint64_t bytes) const { return Address(value_ - bytes); }
  constexpr std::uint64_t operator-(Address other) const { return value_ - other.value_; }
  constexpr Address& operator+=(std::uint64_t bytes) {
    value_ += bytes;
    return *this;
  }

  constexpr bool aligned(std::uint64_t alignment) const { return is_aligned(value_, alignment); }
  constexpr Address rounded_down(std::uint64_t alignment) const { return Address(round_down(value_, alignment)); }
  constexpr Address rounded_up(std::uint64_t alignment) const { return Address(round_up(value_, alignment)); }
  constexpr std::uint64_t page_offset() const { return value_ & (page_bytes - 1); }

 private:
  std::uint64_t value_ = 0;
};

using PhysicalAddress = Address<struct PhysicalAddressTag>;
using VirtualAddress = Address<struct VirtualAddressTag>;

// A frame is 4 KiB of physical memory; its number is its address over 4096.
class FrameNumber {
 public:
  constexpr FrameNumber() = default;
  constexpr explicit FrameNumber(std::uint64_t value) : value_(value) {}
  static constexpr FrameNumber containing(PhysicalAddress address) { return FrameNumber(address.value() >> page_bits); }

  constexpr std::uint64_t value() const { return value_; }
  constexpr PhysicalAddress address() const { return PhysicalAddress(value_ << page_bits); }
  constexpr auto operator<=>(const FrameNumber&) const = default;

  constexpr FrameNumber operator+(std::uint64_t frames) const { return FrameNumber(value_ + frames); }
  constexpr FrameNumber operator-(std::uint64_t frames) const { return FrameNumber(value_ - frames); }
  constexpr std::uint64_t operator-(FrameNumber other) const { return value_ - other.value_; }

 private:
  std::uint64_t value_ = 0;
};

// Addresses are read in hexadecimal everywhere; error texts and log lines get them so.
template <class Text>
constexpr void describe_hexadecimal(std::uint64_t value, Text& text) {
  text.append("0x");
  int digits = 1;
  while (digits < 16 && (value >> (4 * digits)) != 0) ++digits;
  while (digits-- > 0) text.append("0123456789abcdef"[(value >> (4 * digits)) & 15]);
}
template <class Tag, class Text>
constexpr void describe(Address<Tag> address, Text& text) {
  describe_hexadecimal(address.value(), text);
}

}  // namespace ingot::os
