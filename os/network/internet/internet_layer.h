// InternetLayer: all that lies between links and transports, put together.
//
//   Link --> PacketReceiver --> Icmp, DhcpClient, Transport          Transport --> Routes (once, then kept)
//               |    \--> Reassembly   \--> RouterDiscovery                    \--> PacketSender --> Neighbours -->
//               Link
//               \--> NeighbourMessages         |
//                        \-----------------------\--> AddressKeeper --> Interface: addresses, ways, name servers
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "os/network/internet/configuration.h"
#include "os/network/internet/dhcp_client.h"
#include "os/network/internet/loop.h"
#include "os/network/internet/packet_receiver.h"
#include "os/network/internet/router_discovery.h"

namespace ingot::os::network {

class InternetLayer final : public Internet, InternetEvents {
 public:
  // `listener`: may be nullptr.
  InternetLayer(Machine& machine, NetworkTimers& timers, ConfigurationEvents* listener, std::string_view host_name);

  // Who gets the protocol's packets: TCP and UDP, one each.
  void attach(Protocol protocol, Transport& transport);
  // EINVAL: what it is to have cannot be; ENOSPC: there are as many links as there can be.
  Answer<void> add(Link& link, const Configuration& wanted, Nanoseconds now);
  void received(Link& link, Received& packet, Nanoseconds now);
  void link_changed(Link& link, Nanoseconds now);
  // The listener hears what has changed since.
  void tell_changes();
  Configuration configuration_of(const Interface& interface);

  Answer<Route> route(const IpAddress& to, const IpAddress& from) override { return around_.routes.find(to, from); }
  std::uint32_t route_version() const override { return around_.routes.version(); }
  bool send(const Route& route, const Travel& travel, Outgoing& packet) override {
    return sender_.send(route, travel, packet);
  }
  bool is_ours(const IpAddress& address) const override { return around_.routes.is_ours(address); }
  void refuse_port(const Arrival& arrival, std::span<const std::byte> header) override;

  LoopLink& loop() { return loop_; }
  Routes& routes() { return around_.routes; }
  const Neighbours& neighbours() const { return neighbours_; }
  const Reassembly& reassembly() const { return receiver_.reassembly(); }
  const InternetCounters& counters() const { return around_.counters; }

 private:
  void configure(Interface& interface, const Configuration& wanted, Nanoseconds now);
  DhcpClient* dhcp_of(const Interface& interface);
  Transport* transport_of(Protocol protocol) const;

  void unreachable(const Outgoing& packet) override;
  void address_ready(Interface& interface, const OwnAddress& own) override;
  void address_taken(Interface& interface, const OwnAddress& own) override;
  void refused(Protocol protocol, const Refusal& refusal) override;
  void neighbour_message(const Arrival& arrival, std::span<const std::byte> message, Nanoseconds now) override;
  bool packet_arrived(const Arrival& arrival, Received& packet, Nanoseconds now) override;
  void reassembly_expired(const Arrival& arrival, std::span<const std::byte> header,
                          std::span<const std::byte> rest) override {
    icmp_.send_error(IcmpError::reassembly_expired, arrival, header, rest, 0, around_.machine.now());
  }

  Surroundings around_;
  ConfigurationEvents* listener_;
  Transport* tcp_ = nullptr;
  Transport* udp_ = nullptr;
  std::array<char, 63> host_name_;
  std::size_t host_name_bytes_;
  LoopLink loop_{around_};
  Neighbours neighbours_{around_};
  AddressKeeper keeper_{around_};
  PacketSender sender_{around_, neighbours_};
  Icmp icmp_{around_, sender_};
  NeighbourMessages messages_{neighbours_, keeper_, around_.counters.neighbours};
  RouterDiscovery routers_{around_, keeper_};
  PacketReceiver receiver_{around_, messages_, icmp_};
  std::array<std::optional<DhcpClient>, InternetSettings::links> dhcp_clients_;
};

}  // namespace ingot::os::network
