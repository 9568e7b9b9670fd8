#include "os/network/internet/internet_layer.h"

#include <algorithm>
#include <utility>

namespace ingot::os::network {

namespace {

// As people write a prefix's length, and as it is kept.
unsigned kept_bits(const IpAddress& address, unsigned bits) { return address.is_v4() ? bits + 96 : bits; }

PrefixRoute default_route(const IpAddress& gateway, Origin origin) {
  if (gateway.is_v4()) return {IpAddress::v4(0, 0, 0, 0), 96, gateway, origin};
  return {IpAddress(), 0, gateway, origin};
}

}  // namespace

InternetLayer::InternetLayer(Machine& machine, NetworkTimers& timers, ConfigurationEvents* listener,
                             std::string_view host_name)
    : around_{machine, timers, *this},
      listener_(listener),
      host_name_bytes_(host_name.copy(host_name_.data(), host_name_.size())) {
  Interface& loop = *around_.routes.add(loop_);
  keeper_.add(loop, OwnAddress{IpAddress::v4(127, 0, 0, 1), 96 + 8}, Nanoseconds());
  keeper_.add(loop, OwnAddress{IpAddress(IpAddress::V6{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1})},
              Nanoseconds());
}

void InternetLayer::attach(Protocol protocol, Transport& transport) {
  (protocol == Protocol::tcp ? tcp_ : udp_) = &transport;
}

void InternetLayer::configure(Interface& interface, const Configuration& wanted, Nanoseconds now) {
  for (const AddressWithPrefix& one : wanted.addresses) {
    const auto bits = static_cast<std::uint8_t>(kept_bits(one.address, one.prefix_bits));
    keeper_.add(interface, OwnAddress{one.address, bits}, now);
    keeper_.add(interface, PrefixRoute{one.address, bits}, now);
  }
  for (const IpAddress& gateway : wanted.gateways) keeper_.add(interface, default_route(gateway, Origin::fixed), now);
  for (const IpAddress& server : wanted.name_servers) keeper_.add(interface, NameServer{server}, now);
  interface.asked_mtu = wanted.mtu;
  interface.asks_routers = wanted.asks_routers;
  if (!wanted.asks_dhcp) return;
  for (std::optional<DhcpClient>& client : dhcp_clients_) {
    if (client) continue;
    client.emplace(around_, keeper_, sender_, std::string_view(host_name_.data(), host_name_bytes_), interface);
    return;
  }
}

Answer<void> InternetLayer::add(Link& link, const Configuration& wanted, Nanoseconds now) {
  for (const AddressWithPrefix& one : wanted.addresses) {
    const bool fits = kept_bits(one.address, one.prefix_bits) <= 128 && one.prefix_bits != 0;
    if (!fits || !is_one_machine(one.address)) return Errno::einval;
  }
  if (!std::all_of(wanted.gateways.begin(), wanted.gateways.end(), is_one_machine)) return Errno::einval;
  if (wanted.mtu != 0 && wanted.mtu < InternetSettings::dhcp_least_mtu) return Errno::einval;
  // The link-local address needs room, and what DHCP brings.
  if (wanted.addresses.size() + 2 > InternetSettings::addresses) return Errno::einval;
  Interface* const interface = around_.routes.add(link);
  if (interface == nullptr) return Errno::enospc;
  configure(*interface, wanted, now);
  link_changed(link, now);
  return {};
}

void InternetLayer::link_changed(Link& link, Nanoseconds now) {
  Interface* const interface = around_.routes.find(&link);
  if (interface == nullptr || interface->was_up == link.is_up()) return;
  interface->was_up = link.is_up();
  DhcpClient* const dhcp = dhcp_of(*interface);
  if (!interface->was_up) {
    neighbours_.forget(*interface);
    if (dhcp != nullptr) dhcp->stop();
    return;
  }
  keeper_.link_came_up(*interface, now);
  // RFC 8200 5: less carries no IPv6.
  if (interface->mtu(IpVersion::v6) >= InternetSettings::least_v6_path) routers_.start(*interface, now);
  if (dhcp != nullptr) dhcp->start(now);
}

void InternetLayer::received(Link& link, Received& packet, Nanoseconds now) {
  if (Interface* const interface = around_.routes.find(&link)) {
    ++interface->counters.received;
    interface->counters.received_bytes += packet.bytes.bytes();
    receiver_.received(*interface, packet, now);
  }
  packet.bytes.clear();
}

DhcpClient* InternetLayer::dhcp_of(const Interface& interface) {
  for (std::optional<DhcpClient>& client : dhcp_clients_) {
    if (client && &client->interface() == &interface) return &*client;
  }
  return nullptr;
}

Transport* InternetLayer::transport_of(Protocol protocol) const {
  if (protocol == Protocol::tcp) return tcp_;
  return protocol == Protocol::udp ? udp_ : nullptr;
}

bool InternetLayer::packet_arrived(const Arrival& arrival, Received& packet, Nanoseconds now) {
  const bool is_v4 = arrival.from.is_v4();
  if (arrival.protocol == (is_v4 ? Protocol::icmp : Protocol::icmpv6)) {
    icmp_.received(arrival, packet.bytes, now);
    return true;
  }
  if (is_v4 && arrival.protocol == Protocol::udp) {
    DhcpClient* const dhcp = dhcp_of(*around_.routes.find(arrival.link));
    const std::span<const std::byte> ports = dhcp == nullptr ? std::span<std::byte>() : packet.bytes.front(4);
    if (!ports.empty() && *reinterpret_cast<const Big16*>(ports.data() + 2) == DhcpClient::client_port) {
      dhcp->received(arrival, packet, now);
      return true;
    }
  }
  Transport* const transport = transport_of(arrival.protocol);
  if (transport != nullptr) transport->received(arrival, std::move(packet));
  return transport != nullptr;
}

void InternetLayer::neighbour_message(const Arrival& arrival, std::span<const std::byte> message, Nanoseconds now) {
  Interface& interface = *around_.routes.find(arrival.link);
  // Neighbours' messages are short: pieces would only hide what is in them (RFC 6980).
  if (interface.is_loop() || receiver_.was_cut()) return;
  switch (std::to_integer<std::uint8_t>(message[0])) {
    case NeighbourMessage::solicitation:
    case NeighbourMessage::advertisement:
      return messages_.received(interface, arrival, receiver_.sender(), message, now);
    case NeighbourMessage::router_advertisement: return routers_.received(interface, arrival, message, now);
    default: return;
  }
}

void InternetLayer::refused(Protocol protocol, const Refusal& refusal) {
  if (Transport* const transport = transport_of(protocol)) transport->refused(refusal);
}

void InternetLayer::unreachable(const Outgoing& packet) {
  icmp_.refuse(Refusal::Kind::unreachable_host, packet.header());
}

void InternetLayer::refuse_port(const Arrival& arrival, std::span<const std::byte> header) {
  icmp_.send_error(IcmpError::port_unreachable, arrival, receiver_.header(), header, 0, around_.machine.now());
}

void InternetLayer::address_ready(Interface& interface, const OwnAddress& own) {
  if (DhcpClient* const dhcp = dhcp_of(interface)) dhcp->address_ready(own.address, around_.machine.now());
}

void InternetLayer::address_taken(Interface& interface, const OwnAddress& own) {
  if (DhcpClient* const dhcp = dhcp_of(interface)) dhcp->address_taken(own.address, around_.machine.now());
  if (listener_ != nullptr) listener_->address_taken(interface.link, own.address);
}

Configuration InternetLayer::configuration_of(const Interface& interface) {
  Configuration now;
  for (const OwnAddress& own : interface.addresses) {
    if (!own.is_usable()) continue;
    const unsigned bits = own.address.is_v4() ? own.prefix_bits - 96u : own.prefix_bits;
    now.addresses.push_back({own.address, static_cast<std::uint8_t>(bits)});
  }
  for (const PrefixRoute& route : interface.routes) {
    if (!route.gateway.is_unspecified()) now.gateways.push_back(route.gateway);
  }
  for (const NameServer& server : interface.name_servers) now.name_servers.push_back(server.address);
  now.mtu = interface.mtu(IpVersion::v4);
  now.asks_routers = interface.asks_routers;
  now.asks_dhcp = dhcp_of(interface) != nullptr;
  return now;
}

void InternetLayer::tell_changes() {
  around_.routes.for_each([&](Interface& interface) {
    if (interface.is_loop() || !std::exchange(interface.is_changed, false) || listener_ == nullptr) return;
    const Configuration now = configuration_of(interface);
    if (now == interface.told) return;  // a lease was renewed
    interface.told = now;
    listener_->configured(interface.link, now);
  });
}

}  // namespace ingot::os::network
