// NeighbourMessages: what neighbours say of addresses, to us or to each other, by ARP (RFC 826) and by neighbour
// discovery (RFC 4861 7.2); and whether somebody uses ours (RFC 5227). Redirects are not believed, and multicast
// listeners are not reported (MLD): a switch that snoops must flood what is asked of us.
#pragma once

#include <span>

#include "os/network/internet/address_keeper.h"
#include "os/network/internet/neighbours.h"
#include "os/network/internet/solicitations.h"

namespace ingot::os::network {

// A message behind ICMP's header: an address that it is about, or other fields, then options.
struct NeighbourOptions {
  std::span<const std::byte> rest;

  // The next option with its kind and length; nothing at the end, or where the list is broken.
  std::span<const std::byte> take() {
    if (rest.size() < 8) return {};
    const std::size_t bytes = std::to_integer<std::size_t>(rest[1]) * 8;
    if (bytes == 0 || bytes > rest.size()) return {};
    const std::span<const std::byte> option = rest.first(bytes);
    rest = rest.subspan(bytes);
    return option;
  }
  // Whether all of it is options, each with a length that is possible (RFC 4861 7.1: else nothing is believed).
  static bool are_whole(std::span<const std::byte> bytes) {
    NeighbourOptions options{bytes};
    while (!options.take().empty()) continue;
    return options.rest.empty();
  }
  // The first of the kind.
  static std::span<const std::byte> find(std::span<const std::byte> bytes, std::uint8_t kind);
};

class NeighbourMessages {
 public:
  NeighbourMessages(Neighbours& neighbours, AddressKeeper& keeper, NeighbourCounters& counters)
      : neighbours_(neighbours), keeper_(keeper), counters_(counters) {}

  // Behind Ethernet's header.
  void arp_received(Interface& interface, const ByteChain& packet, Nanoseconds now);
  // Solicitations and advertisements of neighbours, from ICMP's header on; its checksum is right. `sender`: the
  // frame's.
  void received(Interface& interface, const Arrival& arrival, const HardwareAddress& sender,
                std::span<const std::byte> message, Nanoseconds now);

 private:
  struct Parts {
    IpAddress target;
    std::uint32_t flags = 0;
    std::optional<HardwareAddress> hardware;
  };

  void solicited(Interface& interface, const Arrival& arrival, const HardwareAddress& sender, const Parts& parts,
                 Nanoseconds now);
  void advertised(Interface& interface, const Arrival& arrival, const Parts& parts, Nanoseconds now);

  Neighbours& neighbours_;
  AddressKeeper& keeper_;
  NeighbourCounters& counters_;
};

}  // namespace ingot::os::network
