// Interface: a link with what belongs to us on it: addresses, ways that lead out by it, name servers.
#pragma once

#include <algorithm>
#include <cstdint>

#include "os/network/address.h"
#include "os/network/internet/configuration.h"

namespace ingot::os::network {

inline constexpr Nanoseconds forever{INT64_MAX};

// An address that a machine can have on a link.
constexpr bool is_one_machine(const IpAddress& address) {
  if (address.is_unspecified() || address.is_multicast() || address.is_loopback()) return false;
  return !address.is_v4() || (address.as_v4()[0] != 0 && address.as_v4()[0] < 240);
}

// Whose word it is.
enum class Origin : std::uint8_t { fixed, dhcp, router, link_local };

struct OwnAddress {
  enum class State : std::uint8_t { tentative, preferred, deprecated };

  IpAddress address;
  std::uint8_t prefix_bits = 128;  // of the 128, so 96 more than what people write for IPv4
  Origin origin = Origin::fixed;
  State state = State::tentative;
  bool is_optimistic = false;  // used while it is probed: somebody wrote it down, or it was ours before
  std::uint8_t probes_left = 0, announcements_left = 0;
  Nanoseconds next_step = forever;  // the next probe or announcement
  Nanoseconds preferred_until = forever, valid_until = forever;
  Nanoseconds defended{};

  bool is_usable() const { return state != State::tentative || is_optimistic; }
  bool is_in_subnet(const IpAddress& other) const { return other.starts_with(address, prefix_bits); }
  // All bits behind the prefix are set: everybody in the subnet.
  bool is_broadcast(const IpAddress& other) const {
    if (!other.is_v4() || prefix_bits >= 127 || !is_in_subnet(other)) return false;
    for (unsigned bit = prefix_bits; bit < 128; ++bit) {
      if ((other.bytes()[bit / 8] >> (7 - bit % 8) & 1) == 0) return false;
    }
    return true;
  }
};

// A prefix that is reached by the link: itself, or by a neighbour who knows the way.
struct PrefixRoute {
  IpAddress prefix;
  std::uint8_t bits = 0;  // of the 128
  IpAddress gateway{};    // ::, where those in it are neighbours
  Origin origin = Origin::fixed;
  Nanoseconds until = forever;
};

struct NameServer {
  IpAddress address;
  Origin origin = Origin::fixed;
  Nanoseconds until = forever;
};

// As /proc/net/dev tells them.
struct LinkCounters {
  std::uint64_t received = 0, received_bytes = 0, sent = 0, sent_bytes = 0;
};

struct Interface {
  explicit Interface(Link& carrier) : link(carrier) {}

  Link& link;
  BoundedList<OwnAddress, InternetSettings::addresses> addresses;
  BoundedList<PrefixRoute, InternetSettings::routes> routes;
  BoundedList<NameServer, InternetSettings::name_servers> name_servers;
  Nanoseconds makes_none_until{};  // of prefixes: who answers each probe would make us tell of it at each advertisement
  std::uint16_t asked_mtu = 0, router_mtu = 0;  // what a server, a router or somebody else wants; 0: nothing
  bool asks_routers = false, was_up = false;
  bool is_changed = false;  // a listener is to be told, if it does not know already
  Configuration told;
  LinkCounters counters;

  const HardwareAddress& hardware() const { return link.properties().address; }
  bool is_loop() const { return !link.properties().is_ethernet; }
  std::uint16_t mtu(IpVersion version) const {
    std::uint16_t mtu = link.properties().mtu;
    if (asked_mtu != 0) mtu = std::min(mtu, asked_mtu);
    if (version == IpVersion::v6 && router_mtu != 0) mtu = std::min(mtu, router_mtu);
    return mtu;
  }
  // Precondition: the packet's headers leave room for Ethernet's. False: the link has no room now.
  bool send(const HardwareAddress& to, FrameKind kind, Outgoing& packet);
  OwnAddress* find(const IpAddress& address) {
    return addresses.find_if([&](const OwnAddress& own) { return own.address == address; });
  }
  const OwnAddress* find(const IpAddress& address) const { return const_cast<Interface*>(this)->find(address); }
  // What an origin said is not true any more.
  void forget(Origin origin, IpVersion version) {
    const auto is_its = [&](const auto& element, const IpAddress& address) {
      return element.origin == origin && address.version() == version;
    };
    is_changed |= addresses.remove_if([&](const OwnAddress& own) { return is_its(own, own.address); });
    is_changed |= routes.remove_if([&](const PrefixRoute& route) { return is_its(route, route.prefix); });
    is_changed |= name_servers.remove_if([&](const NameServer& server) { return is_its(server, server.address); });
  }
};

// Where packets to an address that many share go (RFC 1112 6.4, RFC 2464 7): a group's, or everybody's.
HardwareAddress shared_hardware_address(const IpAddress& address);
// The solicited-node address (RFC 4291 2.7.1), under which neighbours ask for an address.
constexpr IpAddress solicited_node(const IpAddress& address) {
  IpAddress::V6 bytes{0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff};
  for (std::size_t i = 13; i < 16; ++i) bytes[i] = address.bytes()[i];
  return IpAddress(bytes);
}
inline constexpr IpAddress all_nodes(IpAddress::V6{0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1});
inline constexpr IpAddress all_routers(IpAddress::V6{0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2});

}  // namespace ingot::os::network
