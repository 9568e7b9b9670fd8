// RouterDiscovery: asks for routers, and takes from what they advertise (RFC 4861 6.3) the way out, what is on the
// link, addresses (SLAAC, RFC 4862), the MTU and name servers (RFC 8106).
#pragma once

#include <array>
#include <span>

#include "os/network/internet/address_keeper.h"

namespace ingot::os::network {

class RouterDiscovery final : NetworkTimer {
 public:
  RouterDiscovery(Surroundings& around, AddressKeeper& keeper) : around_(around), keeper_(keeper) {}
  ~RouterDiscovery() { around_.timers.clear(*this); }

  // The link is up: it gets its link-local address, and routers are asked for where that is wanted.
  void start(Interface& interface, Nanoseconds now);
  // From ICMP's header on; its checksum is right.
  void received(Interface& interface, const Arrival& arrival, std::span<const std::byte> message, Nanoseconds now);

 private:
  // All lifetimes are in seconds; all bits set: for ever.
  struct Advertisement {
    IcmpHeader icmp;
    Big32 reachable_milliseconds, retransmit_milliseconds;
    std::uint16_t router_lifetime() const { return static_cast<std::uint16_t>(icmp.rest & 0xffff); }
  };
  struct Prefix {
    static constexpr std::uint8_t on_link = 0x80, automatic = 0x40;
    std::uint8_t kind, units, bits, flags;
    Big32 valid, preferred, reserved;
    IpAddress::V6 prefix;
  };
  static_assert(sizeof(Advertisement) == 16 && sizeof(Prefix) == 32);

  void expired(Nanoseconds now) override;
  void prefix_told(Interface& interface, const Prefix& told, Nanoseconds now);
  void make_address(Interface& interface, const Prefix& told, Nanoseconds now);
  void name_servers_told(Interface& interface, std::span<const std::byte> option, Nanoseconds now);

  Surroundings& around_;
  AddressKeeper& keeper_;
  std::uint8_t asks_left_ = 0;
};

}  // namespace ingot::os::network
