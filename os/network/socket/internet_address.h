// Endpoints as programs write them: struct sockaddr_in and sockaddr_in6. A socket of IPv6 speaks of IPv4's ends by
// their mapped addresses, which is how endpoints are kept anyway.
#pragma once

#include "os/file/socket/socket_address.h"
#include "os/network/address.h"
#include "os/syscall/errno.h"

namespace ingot::os::network {

// EAFNOSUPPORT: another family than the socket's; EINVAL: too short for it.
Answer<Endpoint> read_endpoint(const SocketAddress& address, std::uint16_t family);
void write_endpoint(const Endpoint& endpoint, std::uint16_t family, SocketAddress& to);

}  // namespace ingot::os::network
