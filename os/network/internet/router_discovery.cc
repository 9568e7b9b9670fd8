#include "os/network/internet/router_discovery.h"

#include <algorithm>
#include <cstring>

#include "os/network/internet/neighbour_messages.h"

namespace ingot::os::network {

namespace {

constexpr IpAddress::V6 link_local_prefix{0xfe, 0x80};

Nanoseconds until(Nanoseconds now, std::uint32_t lifetime) {
  return lifetime == ~0u ? forever : now + seconds(lifetime);
}

// The interface's own half by its hardware address (EUI-64, RFC 4291 appendix A): the same after every boot, which a
// secret that is drawn at each (RFC 7217) is not.
IpAddress with_own_half(IpAddress::V6 prefix, const HardwareAddress& hardware) {
  const std::array<std::uint8_t, 8> half{
      std::uint8_t(hardware[0] ^ 2), hardware[1], hardware[2], 0xff, 0xfe, hardware[3], hardware[4], hardware[5]};
  std::copy(half.begin(), half.end(), prefix.begin() + 8);
  return IpAddress(prefix);
}

}  // namespace

void RouterDiscovery::start(Interface& interface, Nanoseconds now) {
  const IpAddress local = with_own_half(link_local_prefix, interface.hardware());
  keeper_.add(interface, OwnAddress{local, 64, Origin::link_local}, now);
  keeper_.add(interface, PrefixRoute{IpAddress(link_local_prefix), 64, {}, Origin::link_local}, now);
  if (!interface.asks_routers) return;
  asks_left_ = InternetSettings::router_asks;
  around_.timers.set(*this, now);
}

void RouterDiscovery::expired(Nanoseconds now) {
  if (asks_left_ == 0) return;
  --asks_left_;
  around_.routes.for_each([](Interface& interface) {
    const auto is_router = [](const PrefixRoute& route) { return route.origin == Origin::router; };
    if (interface.asks_routers && interface.link.is_up() && interface.routes.find_if(is_router) == nullptr) {
      ask_for_routers(interface);
    }
  });
  around_.timers.set(*this, now + InternetSettings::router_ask_interval);
}

void RouterDiscovery::received(Interface& interface, const Arrival& arrival, std::span<const std::byte> message,
                               Nanoseconds now) {
  Advertisement told;
  const bool is_long_enough = message.size() >= sizeof told;
  if (is_long_enough) std::memcpy(&told, message.data(), sizeof told);
  if (!is_long_enough || arrival.hop_limit != 255 || told.icmp.code != 0 || !arrival.from.is_link_local() ||
      !NeighbourOptions::are_whole(message.subspan(sizeof told))) {
    ++around_.counters.neighbours.bad;
    return;
  }
  if (!interface.asks_routers) return;
  const Nanoseconds end = now + seconds(told.router_lifetime());
  keeper_.add(interface, PrefixRoute{IpAddress(), 0, arrival.from, Origin::router, end}, now);
  NeighbourOptions options{message.subspan(sizeof told)};
  for (std::span<const std::byte> option = options.take(); !option.empty(); option = options.take()) {
    switch (std::to_integer<std::uint8_t>(option[0])) {
      case NeighbourOption::prefix: {
        Prefix prefix;
        if (option.size() != sizeof prefix) break;
        std::memcpy(&prefix, option.data(), sizeof prefix);
        prefix_told(interface, prefix, now);
        break;
      }
      case NeighbourOption::mtu: {
        Big32 mtu;
        std::memcpy(&mtu, option.data() + 4, sizeof mtu);
        if (mtu < InternetSettings::least_v6_path || mtu > interface.link.properties().mtu) break;
        if (interface.router_mtu != mtu) around_.routes.changed(interface);
        interface.router_mtu = static_cast<std::uint16_t>(mtu);
        break;
      }
      case NeighbourOption::name_servers: name_servers_told(interface, option, now); break;
      default: break;
    }
  }
}

void RouterDiscovery::prefix_told(Interface& interface, const Prefix& told, Nanoseconds now) {
  const IpAddress prefix(told.prefix);
  if (told.bits > 128 || prefix.is_link_local() || prefix.is_multicast() || prefix.is_v4()) return;
  if ((told.flags & Prefix::on_link) != 0 && told.bits != 0) {
    keeper_.add(interface, PrefixRoute{prefix, told.bits, {}, Origin::router, until(now, told.valid)}, now);
  }
  if ((told.flags & Prefix::automatic) != 0 && told.bits == 64 && told.preferred <= told.valid) {
    make_address(interface, told, now);
  }
}

void RouterDiscovery::make_address(Interface& interface, const Prefix& told, Nanoseconds now) {
  OwnAddress made{with_own_half(told.prefix, interface.hardware()), 64, Origin::router};
  made.preferred_until = until(now, told.preferred);
  made.valid_until = until(now, told.valid);
  const OwnAddress* const known = interface.find(made.address);
  if (known == nullptr) {
    // What others need room for is not the routers' to fill.
    const auto is_told = [](const OwnAddress& own) { return own.origin == Origin::router; };
    const bool has_room = interface.addresses.count_if(is_told) < InternetSettings::addresses / 2;
    if (told.valid != 0 && has_room && now >= interface.makes_none_until) keeper_.add(interface, made, now);
    return;
  }
  if (known->origin != Origin::router) return;
  // A stranger could end an address by a short lifetime: it takes two hours at least (RFC 4862 5.5.3 e).
  const Nanoseconds least = now + InternetSettings::two_hours;
  if (made.valid_until <= least && made.valid_until <= known->valid_until) {
    made.valid_until = std::min(known->valid_until, least);
  }
  keeper_.add(interface, made, now);
}

void RouterDiscovery::name_servers_told(Interface& interface, std::span<const std::byte> option, Nanoseconds now) {
  Big32 lifetime;
  std::memcpy(&lifetime, option.data() + 4, sizeof lifetime);
  for (std::size_t at = 8; at + 16 <= option.size(); at += 16) {
    IpAddress::V6 bytes;
    std::memcpy(bytes.data(), option.data() + at, bytes.size());
    const IpAddress address(bytes);
    if (address.is_multicast() || address.is_unspecified() || address.is_v4()) continue;
    keeper_.add(interface, NameServer{address, Origin::router, until(now, lifetime)}, now);
  }
}

}  // namespace ingot::os::network
