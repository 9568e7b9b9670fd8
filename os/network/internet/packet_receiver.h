// PacketReceiver: looks at frames and at IP's headers, and passes on what is whole, well-formed and for us.
//
//   frame -> Ethernet --> ARP
//                     --> IPv4: header, options     --> pieces? -> Reassembly --> what it carries
//                     --> IPv6: header, extensions  --^
#pragma once

#include <array>
#include <span>

#include "os/network/internet/icmp.h"
#include "os/network/internet/neighbour_messages.h"
#include "os/network/internet/reassembly.h"

namespace ingot::os::network {

class PacketReceiver {
 public:
  PacketReceiver(Surroundings& around, NeighbourMessages& neighbours, Icmp& icmp)
      : around_(around), neighbours_(neighbours), icmp_(icmp) {}

  void received(Interface& interface, Received& packet, Nanoseconds now);

  // Of the packet that is being passed on: the frame's sender, and IP's header as it came.
  const HardwareAddress& sender() const { return sender_; }
  std::span<const std::byte> header() const { return std::span(header_).first(header_bytes_); }
  bool was_cut() const { return was_cut_; }  // it came in pieces
  const Reassembly& reassembly() const { return reassembly_; }

 private:
  enum class Next : std::uint8_t { goes_on, ends };  // with a packet

  void received_v4(Interface& interface, Received& packet, Nanoseconds now);
  void received_v6(Interface& interface, Received& packet, Nanoseconds now);
  // Whether it is for us, and from somebody who can be. The arrival's `to_many` is set.
  bool is_acceptable(const Interface& interface, Arrival& arrival);
  static bool are_options_good(std::span<const std::byte> options);
  // The headers between IPv6's own and the transport's; the arrival's protocol says the first, and is the last behind
  // it.
  void walk_extensions(Arrival& arrival, Received& packet, Nanoseconds now);
  Next take_extension(Arrival& arrival, Received& packet, std::size_t& offset, Nanoseconds now);
  Next take_options(const Arrival& arrival, std::span<const std::byte> header, std::size_t offset, Nanoseconds now);
  Next take_fragment(Arrival& arrival, Received& packet, Nanoseconds now);
  void deliver(const Arrival& arrival, Received& packet, std::uint32_t pointer, Nanoseconds now);
  void keep_header(std::span<const std::byte> header);

  Surroundings& around_;
  NeighbourMessages& neighbours_;
  Icmp& icmp_;
  IpCounters& counters_ = around_.counters.ip;
  Reassembly reassembly_{around_};
  HardwareAddress sender_{};
  std::array<std::byte, 60> header_;
  std::size_t header_bytes_ = 0;
  bool was_cut_ = false;
};

}  // namespace ingot::os::network
