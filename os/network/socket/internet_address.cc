#include "os/network/socket/internet_address.h"

#include "os/network/wire/byte_order.h"

namespace ingot::os::network {

namespace {

// Where things lie behind the family, which alone is in the machine's own byte order: sin_port and sin_addr with zeros
// behind it; sin6_port, sin6_flowinfo, sin6_addr and sin6_scope_id, of no use with one link at a time.
constexpr std::size_t v4_at = 2, v4_bytes = 14;
constexpr std::size_t v6_at = 6, v6_bytes = 26, v6_bytes_without_scope = 22;

}  // namespace

Answer<Endpoint> read_endpoint(const SocketAddress& address, std::uint16_t family) {
  const std::span<const std::byte> rest = address.rest();
  if (!address.has_family()) return Errno::einval;
  if (address.family() != family) return Errno::eafnosupport;
  const bool is_v4 = family == socket_family::internet;
  if (rest.size() < (is_v4 ? v4_bytes : v6_bytes_without_scope)) return Errno::einval;
  Big16 port;
  __builtin_memcpy(&port, rest.data(), sizeof port);
  if (is_v4) {
    IpAddress::V4 bytes;
    __builtin_memcpy(&bytes, rest.data() + v4_at, sizeof bytes);
    return Endpoint{IpAddress(bytes), port};
  }
  IpAddress::V6 bytes;
  __builtin_memcpy(&bytes, rest.data() + v6_at, sizeof bytes);
  return Endpoint{IpAddress(bytes), port};
}

void write_endpoint(const Endpoint& endpoint, std::uint16_t family, SocketAddress& to) {
  std::array<std::byte, v6_bytes> rest{};
  const Big16 port = endpoint.port;
  __builtin_memcpy(rest.data(), &port, sizeof port);
  if (family == socket_family::internet) {
    // A socket that is bound to nothing has the address of no version.
    const IpAddress::V4 bytes = endpoint.address.is_v4() ? endpoint.address.as_v4() : IpAddress::V4{};
    __builtin_memcpy(rest.data() + v4_at, &bytes, sizeof bytes);
    to.set(family, std::span(rest).first(v4_bytes));
    return;
  }
  __builtin_memcpy(rest.data() + v6_at, &endpoint.address.bytes(), sizeof(IpAddress::V6));
  to.set(family, rest);
}

}  // namespace ingot::os::network
