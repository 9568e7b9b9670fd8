#include "os/network/transport.h"

#include <bit>
#include <span>

#include "os/network/wire/byte_order.h"

namespace ingot::os::network {

Checksum pseudo_header(const IpAddress& from, const IpAddress& to, Protocol protocol, std::uint32_t bytes) {
  Checksum sum;
  if (from.is_v4()) {
    sum.add_number(std::bit_cast<Big32>(from.as_v4()));
    sum.add_number(std::bit_cast<Big32>(to.as_v4()));
  } else {
    sum.add(std::as_bytes(std::span(from.bytes())));
    sum.add(std::as_bytes(std::span(to.bytes())));
  }
  sum.add_number(bytes);
  sum.add_number(static_cast<std::uint32_t>(protocol));
  return sum;
}

}  // namespace ingot::os::network
