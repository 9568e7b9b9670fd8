// The Internet checksum (RFC 1071): the sum of 16-bit words in ones' complement. Sums of parts are added; a part that
// begins at an odd place is turned by a byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace ingot::os::network {

class Checksum {
 public:
  constexpr Checksum() = default;

  // More bytes, behind all before.
  void add(std::span<const std::byte> bytes);
  // A number that the sum covers, as 16-bit words of the wire: lengths, protocols.
  void add_number(std::uint32_t number) { sum_ += (number >> 16) + (number & 0xffff); }
  // What a header's field gets; a packet that is whole sums up to 0 with it.
  std::uint16_t result() const { return static_cast<std::uint16_t>(~folded()); }
  // Not complemented: what a device that completes the sum wants to find in the field.
  std::uint16_t folded() const {
    std::uint64_t sum = sum_;
    while (sum >> 16 != 0) sum = (sum >> 16) + (sum & 0xffff);
    return static_cast<std::uint16_t>(sum);
  }

 private:
  std::uint64_t sum_ = 0;  // of words with the first byte as the upper one
  bool odd_ = false;
};

}  // namespace ingot::os::network
