// IpAddress: of IPv4 or IPv6, in one type. An IPv4 address is kept as IPv6 maps it (::ffff:a.b.c.d, RFC 4291), so that
// tables and sockets have one kind of key.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace ingot::os::network {

enum class IpVersion : std::uint8_t { v4, v6 };

class IpAddress {
 public:
  using V4 = std::array<std::uint8_t, 4>;
  using V6 = std::array<std::uint8_t, 16>;

  constexpr IpAddress() = default;  // ::, no address
  constexpr explicit IpAddress(const V6& bytes) : bytes_(bytes) {}
  constexpr explicit IpAddress(const V4& bytes)
      : bytes_{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, bytes[0], bytes[1], bytes[2], bytes[3]} {}
  static constexpr IpAddress v4(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d) {
    return IpAddress(V4{a, b, c, d});
  }

  // In two words, not by a call: every packet is compared with many.
  constexpr bool operator==(const IpAddress& other) const {
    const Words own = words(), others = other.words();
    return own.first == others.first && own.second == others.second;
  }
  constexpr const V6& bytes() const { return bytes_; }
  constexpr bool is_v4() const {
    static_assert(std::endian::native == std::endian::little);
    return words().first == 0 && static_cast<std::uint32_t>(words().second) == 0xffff0000;
  }
  constexpr IpVersion version() const { return is_v4() ? IpVersion::v4 : IpVersion::v6; }
  // Precondition: is_v4().
  constexpr V4 as_v4() const { return {bytes_[12], bytes_[13], bytes_[14], bytes_[15]}; }
  // Whether the first `bits` are the same; of an IPv4 address they begin behind the 96 that map it.
  constexpr bool starts_with(const IpAddress& prefix, unsigned bits) const {
    for (unsigned i = 0; i < bits / 8; ++i) {
      if (bytes_[i] != prefix.bytes_[i]) return false;
    }
    const unsigned rest = bits % 8;
    return rest == 0 || ((bytes_[bits / 8] ^ prefix.bytes_[bits / 8]) >> (8 - rest)) == 0;
  }

  // 0.0.0.0 or ::
  constexpr bool is_unspecified() const { return *this == IpAddress() || *this == IpAddress::v4(0, 0, 0, 0); }
  constexpr bool is_loopback() const {
    return is_v4() ? bytes_[12] == 127 : *this == IpAddress(V6{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1});
  }
  constexpr bool is_multicast() const { return is_v4() ? bytes_[12] >> 4 == 0xe : bytes_[0] == 0xff; }
  constexpr bool is_limited_broadcast() const { return *this == IpAddress::v4(255, 255, 255, 255); }
  // fe80::/10, 169.254/16
  constexpr bool is_link_local() const {
    return is_v4() ? bytes_[12] == 169 && bytes_[13] == 254 : bytes_[0] == 0xfe && bytes_[1] >> 6 == 2;
  }

 private:
  struct Words {
    std::uint64_t first, second;
  };
  constexpr Words words() const { return std::bit_cast<Words>(bytes_); }

  V6 bytes_{};
};

struct Endpoint {
  IpAddress address;
  std::uint16_t port = 0;

  constexpr bool operator==(const Endpoint&) const = default;
};

}  // namespace ingot::os::network
