// SocketAddress: a socket's name as programs write it (struct sockaddr): a family, then bytes that only it understands.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace ingot::os {

namespace socket_family {
inline constexpr std::uint16_t none = 0, local = 1;              // AF_UNSPEC, AF_UNIX
inline constexpr std::uint16_t internet = 2, internet_six = 10;  // AF_INET, AF_INET6
}  // namespace socket_family

struct SocketAddress {
  static constexpr std::size_t most_bytes = 128;  // struct sockaddr_storage
  static constexpr std::size_t family_bytes = sizeof(std::uint16_t);

  std::uint32_t size = 0;  // with the family; 0: no address at all
  alignas(8) std::array<std::byte, most_bytes> bytes{};

  bool has_family() const { return size >= family_bytes; }
  std::uint16_t family() const {
    std::uint16_t family = socket_family::none;
    if (has_family()) __builtin_memcpy(&family, bytes.data(), family_bytes);
    return family;
  }
  // Behind the family.
  std::span<const std::byte> rest() const { return std::span(bytes).first(size).subspan(has_family() ? 2 : size); }
  // Precondition: it fits.
  void set(std::uint16_t family, std::span<const std::byte> rest) {
    __builtin_memcpy(bytes.data(), &family, family_bytes);
    if (!rest.empty()) __builtin_memcpy(bytes.data() + family_bytes, rest.data(), rest.size());
    size = static_cast<std::uint32_t>(family_bytes + rest.size());
  }
};

}  // namespace ingot::os
