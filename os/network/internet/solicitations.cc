#include "os/network/internet/solicitations.h"

#include <cstring>

#include "os/network/internet/routes.h"

namespace ingot::os::network {

namespace {

void send_arp(Interface& interface, std::uint16_t operation, const HardwareAddress& to, const IpAddress& sender,
              const IpAddress& target) {
  Outgoing packet;
  const HardwareAddress target_hardware = to == everybody ? HardwareAddress{} : to;
  packet.push_header<ArpPacket>() = {1,
                                     static_cast<std::uint16_t>(FrameKind::ipv4),
                                     6,
                                     4,
                                     operation,
                                     interface.hardware(),
                                     sender.as_v4(),
                                     target_hardware,
                                     target.as_v4()};
  (void)interface.send(to, FrameKind::arp, packet);
}

struct Message {
  std::uint8_t kind;
  std::uint32_t flags = 0;
  const IpAddress* target = nullptr;
  std::uint8_t option = NeighbourOption::source_hardware;
};

void send_message(Interface& interface, const IpAddress& from, const IpAddress& to, const HardwareAddress& hardware,
                  const Message& message) {
  Outgoing packet;
  // A sender without an address must not say which hardware address it has (RFC 4861 4.3).
  if (!from.is_unspecified()) {
    packet.push_header<HardwareOption>() = {message.option, 1, interface.hardware()};
  }
  if (message.target != nullptr) {
    std::memcpy(packet.push_bytes(16).data(), message.target->bytes().data(), 16);
  }
  IcmpHeader& icmp = packet.push_header<IcmpHeader>();
  icmp = {message.kind, 0, 0, message.flags};
  const auto bytes = static_cast<std::uint16_t>(packet.bytes());
  Checksum sum = pseudo_header(from, to, Protocol::icmpv6, bytes);
  sum.add(packet.header());
  icmp.checksum = sum.result();
  packet.push_header<Ipv6Header>() = {6u << 28, bytes,        static_cast<std::uint8_t>(Protocol::icmpv6),
                                      255,      from.bytes(), to.bytes()};
  (void)interface.send(hardware, FrameKind::ipv6, packet);
}

}  // namespace

void ask_neighbour(Interface& interface, const IpAddress& target, const HardwareAddress* known) {
  const OwnAddress* const own = Routes::source_for(interface, target);
  if (own == nullptr) return;
  if (target.is_v4()) {
    send_arp(interface, ArpPacket::request, known == nullptr ? everybody : *known, own->address, target);
    return;
  }
  const IpAddress to = known == nullptr ? solicited_node(target) : target;
  const HardwareAddress hardware = known == nullptr ? shared_hardware_address(to) : *known;
  send_message(interface, own->address, to, hardware, {NeighbourMessage::solicitation, 0, &target});
}

void probe_address(Interface& interface, const IpAddress& address) {
  if (address.is_v4()) {
    send_arp(interface, ArpPacket::request, everybody, IpAddress::v4(0, 0, 0, 0), address);
    return;
  }
  const IpAddress to = solicited_node(address);
  send_message(interface, IpAddress(), to, shared_hardware_address(to), {NeighbourMessage::solicitation, 0, &address});
}

void announce_address(Interface& interface, const IpAddress& address) {
  send_arp(interface, ArpPacket::request, everybody, address, address);
}

void answer_neighbour(Interface& interface, const IpAddress& own, const IpAddress& asker,
                      const HardwareAddress& asker_hardware) {
  if (own.is_v4()) {
    send_arp(interface, ArpPacket::reply, asker_hardware, own, asker);
    return;
  }
  const bool only_probed = asker.is_unspecified();
  const std::uint32_t flags = AdvertisementFlags::override | (only_probed ? 0 : AdvertisementFlags::solicited);
  send_message(interface, own, only_probed ? all_nodes : asker,
               only_probed ? shared_hardware_address(all_nodes) : asker_hardware,
               {NeighbourMessage::advertisement, flags, &own, NeighbourOption::target_hardware});
}

void ask_for_routers(Interface& interface) {
  const OwnAddress* const own = Routes::source_for(interface, all_routers);
  send_message(interface, own == nullptr ? IpAddress() : own->address, all_routers,
               shared_hardware_address(all_routers), {NeighbourMessage::router_solicitation});
}

}  // namespace ingot::os::network
