// Where the Internet's protocol and those above it meet: TCP, UDP and ICMP get packets for us by Transport, and send by
// Internet. Each side is tested with a fake of the other.
#pragma once

#include <cstdint>

#include "os/network/address.h"
#include "os/network/link.h"
#include "os/network/packet.h"
#include "os/network/wire/checksum.h"
#include "os/syscall/errno.h"

namespace ingot::os::network {

// What IP's header said of a packet for us.
struct Arrival {
  IpAddress from, to;
  Protocol protocol = Protocol::nothing;
  std::uint8_t hop_limit = 0;
  std::uint8_t service = 0;  // type of service, traffic class: the lowest two bits are for congestion (RFC 3168)
  bool to_many = false;      // to a broadcast or multicast address
  Link* link = nullptr;
};

// Somebody on the way could not deliver what we sent.
struct Refusal {
  enum class Kind : std::uint8_t {
    unreachable_port,
    unreachable_host,
    unreachable_network,
    prohibited,
    too_big,
    expired
  };
  Kind kind = Kind::unreachable_host;
  IpAddress from, to;     // of our packet
  std::uint16_t mtu = 0;  // too_big: what fits
  // How our transport's header began: ports, and TCP's sequence number. RFC 792 promises no more than these.
  std::uint16_t source_port = 0, destination_port = 0;
  std::uint32_t sequence = 0;
};

class Transport {
 public:
  // The packet begins with the transport's header; it is taken. IP has checked that it is whole, and cut what lies
  // behind its end; the transport's checksum is the transport's to check, unless it is verified.
  virtual void received(const Arrival& arrival, Received&& packet) = 0;
  // What it says is a stranger's word until the ports and numbers fit.
  virtual void refused(const Refusal& refusal) = 0;

 protected:
  ~Transport() = default;
};

// How packets get to an address, as of now. A transport keeps it as long as Internet::route_version() stays the same.
struct Route {
  Link* link = nullptr;
  IpAddress source;    // ours
  IpAddress next_hop;  // the neighbour
  std::uint16_t mtu = 0;
  std::uint32_t version = 0;
  bool to_many = false;  // a broadcast or multicast address
};

// What a sender says of a packet beside its addresses.
struct Travel {
  IpAddress from, to;
  Protocol protocol = Protocol::nothing;
  std::uint8_t hop_limit = 64;
  std::uint8_t service = 0;
  // Fragmented where it is longer than the route's MTU, its checksum being done then (UDP, ICMP); TCP's never are.
  bool may_be_cut = false;
};

class Internet {
 public:
  // `from`: an address of ours that is bound to, or none. ENETUNREACH: no way leads there; EADDRNOTAVAIL: not ours.
  virtual Answer<Route> route(const IpAddress& to, const IpAddress& from) = 0;
  // Changes with addresses, gateways and paths' MTUs.
  virtual std::uint32_t route_version() const = 0;
  // The packet begins with the transport's header, whose checksum is done or left to the link as Outgoing says. What
  // waits for a neighbour's hardware address is kept for it, within bounds. False: the link has no room now, and says
  // when it has (Stack tells the transports). ENOBUFS and the like are for the network to lose: it is no error then.
  virtual bool send(const Route& route, const Travel& travel, Outgoing& packet) = 0;
  // Whether the address is one of ours, or one that many share and we are among them.
  virtual bool is_ours(const IpAddress& address) const = 0;
  // Nobody has the port that the packet was for: its sender is told so (ICMP), within a rate. `header`: the
  // transport's.
  virtual void refuse_port(const Arrival& arrival, std::span<const std::byte> header) = 0;

 protected:
  ~Internet() = default;
};

// The sum of what checksums of transports cover beside the packet itself (RFC 9293 3.1, RFC 8200 8.1).
Checksum pseudo_header(const IpAddress& from, const IpAddress& to, Protocol protocol, std::uint32_t bytes);

// What a socket's owner is told, under the network's lock: poll_event bits that may hold now, as a hint.
class SocketEvents {
 public:
  virtual void changed(std::uint32_t events) = 0;

 protected:
  ~SocketEvents() = default;
};

}  // namespace ingot::os::network
