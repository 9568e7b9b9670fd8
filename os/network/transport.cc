#include "os/network/transport.h"

namespace ingot::os::network {

Checksum pseudo_header(const IpAddress& from, const IpAddress& to, Protocol protocol, std::uint32_t bytes) {
  Checksum sum;
  const std::size_t skipped = from.is_v4() ? 12 : 0;  // of an IPv4 address, what maps it
  sum.add(std::as_bytes(std::span(from.bytes())).subspan(skipped));
  sum.add(std::as_bytes(std::span(to.bytes())).subspan(skipped));
  sum.add_number(bytes);
  sum.add_number(static_cast<std::uint32_t>(protocol));
  return sum;
}

}  // namespace ingot::os::network
