// Questions and answers among neighbours, by ARP (RFC 826, RFC 5227) for IPv4 and by neighbour discovery (RFC 4861) for
// IPv6. What a busy link does not take is lost: whoever asks asks again.
#pragma once

#include "os/network/internet/interface.h"

namespace ingot::os::network {

// Neighbour discovery's messages (ICMPv6's types) and options.
struct NeighbourMessage {
  static constexpr std::uint8_t router_solicitation = 133, router_advertisement = 134, solicitation = 135,
                                advertisement = 136, redirect = 137;
};
struct NeighbourOption {
  static constexpr std::uint8_t source_hardware = 1, target_hardware = 2, prefix = 3, mtu = 5, name_servers = 25;
};
struct AdvertisementFlags {
  static constexpr std::uint32_t router = 1u << 31, solicited = 1u << 30, override = 1u << 29;
};
// A hardware address as an option: kind, length in units of 8 bytes, address.
struct HardwareOption {
  std::uint8_t kind, units;
  HardwareAddress address;
};
static_assert(sizeof(HardwareOption) == 8);

// Who has it? `known`: asked by itself whether it still is there; nullptr: all are asked.
void ask_neighbour(Interface& interface, const IpAddress& target, const HardwareAddress* known);
// Does anybody have it already?
void probe_address(Interface& interface, const IpAddress& address);
// We have it. Precondition: IPv4's; neighbours of IPv6 ask.
void announce_address(Interface& interface, const IpAddress& address);
// We have it, to one who asked; asker ::, who only probed: to all.
void answer_neighbour(Interface& interface, const IpAddress& own, const IpAddress& asker,
                      const HardwareAddress& asker_hardware);
void ask_for_routers(Interface& interface);

}  // namespace ingot::os::network
