// DHCP's messages (RFC 2131 2, RFC 2132): what we write, and what we read of a server's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "os/network/address.h"
#include "os/network/internet/bounded_list.h"
#include "os/network/wire/headers.h"

namespace ingot::os::network {

enum class DhcpKind : std::uint8_t { none, discover, offer, request, decline, acknowledgment, refusal };

struct DhcpQuestion {
  DhcpKind kind = DhcpKind::none;
  std::uint32_t transaction = 0;
  std::uint16_t seconds = 0;    // since the first
  IpAddress client;             // an address that we have and use
  IpAddress requested, server;  // ::, left out
  std::string_view host_name;   // empty: left out
};

struct DhcpReply {
  static constexpr std::uint32_t infinite = ~0u;
  using Addresses = BoundedList<IpAddress, 3>;

  DhcpKind kind = DhcpKind::none;
  std::uint32_t transaction = 0;
  IpAddress address, server;
  std::uint8_t prefix_bits = 0;  // 0: not said
  Addresses routers, name_servers;
  std::uint16_t mtu = 0;                                // 0: not said
  std::uint32_t lease = 0, renewal = 0, rebinding = 0;  // in seconds; 0: not said
};

inline constexpr std::size_t dhcp_room = 400;

// How long the message is. Precondition: `room` has dhcp_room bytes, all 0; the host's name has 63 at most.
std::size_t write_dhcp(const DhcpQuestion& question, const HardwareAddress& hardware, std::span<std::byte> room);
// False: it is no reply to a machine with this hardware address, or not well-formed.
bool read_dhcp(std::span<const std::byte> message, const HardwareAddress& hardware, DhcpReply& reply);

}  // namespace ingot::os::network
