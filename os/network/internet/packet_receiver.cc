#include "os/network/internet/packet_receiver.h"

#include <algorithm>
#include <cstring>

namespace ingot::os::network {

namespace {

enum Ipv4Option : std::uint8_t {
  end_of_list = 0,
  no_operation = 1,
  loose_source_route = 131,
  strict_source_route = 137
};

template <class Header>
bool read(ByteChain& bytes, Header& header) {
  const std::span<const std::byte> front = bytes.front(sizeof header);
  if (front.empty()) return false;
  std::memcpy(&header, front.data(), sizeof header);
  return true;
}

}  // namespace

void PacketReceiver::received(Interface& interface, Received& packet, Nanoseconds now) {
  if (interface.is_loop()) {
    std::byte first{};
    if (!packet.bytes.is_empty()) packet.bytes.copy_out(0, {&first, 1});
    return (first >> 4) == std::byte{4} ? received_v4(interface, packet, now) : received_v6(interface, packet, now);
  }
  EthernetHeader frame;
  const bool is_whole = read(packet.bytes, frame);
  // Not for us, from many, or our own come back.
  if (!is_whole || ((frame.to[0] & 1) == 0 && frame.to != interface.hardware()) || (frame.from[0] & 1) != 0 ||
      frame.from == interface.hardware()) {
    ++counters_.bad_frames;
    return;
  }
  sender_ = frame.from;
  packet.bytes.drop_front(sizeof frame);
  switch (FrameKind{std::uint16_t{frame.kind}}) {
    case FrameKind::ipv4: return received_v4(interface, packet, now);
    case FrameKind::ipv6: return received_v6(interface, packet, now);
    case FrameKind::arp: return neighbours_.arp_received(interface, packet.bytes, now);
  }
  ++counters_.bad_frames;
}

bool PacketReceiver::is_acceptable(const Interface& interface, Arrival& arrival) {
  const bool is_loop = interface.is_loop();
  arrival.link = &interface.link;
  arrival.to_many = !around_.routes.is_own(arrival.to);
  if (arrival.to_many ? !around_.routes.is_shared(interface, arrival.to) : arrival.to.is_loopback() && !is_loop) {
    ++counters_.not_ours;
    return false;
  }
  const IpAddress& from = arrival.from;
  // Nobody else sends from an address of ours, and none from one that many share. Without an address one may only ask
  // neighbours (IPv6); questions to DHCP servers are not for us.
  const bool is_bad = from.is_multicast() || (!is_loop && around_.routes.is_settled(from)) ||
                      (from.is_unspecified() && (from.is_v4() || !arrival.to_many)) ||
                      (from.is_v4() && around_.routes.is_shared(interface, from));
  if (is_bad) ++counters_.bad_sources;
  return !is_bad;
}

// For errors about the packet, which TCP, the one with the most, never asks for.
void PacketReceiver::keep_header(std::span<const std::byte> header) {
  header_bytes_ = std::min(header.size(), header_.size());
  std::memcpy(header_.data(), header.data(), header_bytes_);
}

bool PacketReceiver::are_options_good(std::span<const std::byte> options) {
  while (!options.empty()) {
    const auto kind = std::to_integer<std::uint8_t>(options[0]);
    if (kind == end_of_list) return true;
    std::size_t bytes = 1;
    if (kind != no_operation) {
      bytes = options.size() < 2 ? 0 : std::to_integer<std::size_t>(options[1]);
      if (bytes < 2 || bytes > options.size()) return false;
    }
    // Who says how its packet travels can hide where it came from (RFC 7126 4.3).
    if (kind == loose_source_route || kind == strict_source_route) return false;
    options = options.subspan(bytes);
  }
  return true;
}

void PacketReceiver::received_v4(Interface& interface, Received& packet, Nanoseconds now) {
  ++counters_.received;
  header_bytes_ = 0;
  was_cut_ = false;
  Ipv4Header header;
  bool is_good = read(packet.bytes, header);
  const std::size_t header_bytes = is_good ? (header.version_and_words & 0xfu) * 4 : 0;
  const std::uint16_t total = is_good ? std::uint16_t{header.total_bytes} : std::uint16_t{0};
  is_good = is_good && header.version_and_words >> 4 == 4 && header_bytes >= sizeof header && total >= header_bytes &&
            total <= packet.bytes.bytes();
  if (is_good) {
    const std::span<const std::byte> all = packet.bytes.front(header_bytes);
    Checksum sum;
    sum.add(all);
    is_good = !all.empty() && sum.result() == 0 && are_options_good(all.subspan(sizeof header));
    if (is_good && Protocol{header.protocol} != Protocol::tcp) keep_header(all);
  }
  if (!is_good) {
    ++counters_.bad_headers;
    return;
  }
  Arrival arrival{IpAddress(header.source), IpAddress(header.destination), Protocol{header.protocol},
                  header.time_to_live, header.service};
  if (!is_acceptable(interface, arrival)) return;
  packet.bytes.drop_back(packet.bytes.bytes() - total);
  packet.bytes.drop_front(header_bytes);
  const bool more = (header.fragment & Ipv4Header::more_fragments) != 0;
  const std::uint32_t offset = (header.fragment & Ipv4Header::offset_mask) * 8u;
  if (more || offset != 0) {
    const FragmentInfo info{header.identification, offset, more, arrival.protocol};
    const auto ip = std::as_bytes(std::span(&header, 1));
    if (!reassembly_.add(arrival, info, ip, packet.bytes, now)) return;
    packet.transport_verified = false;
    packet.segment_bytes = 0;
    header.fragment = 0;
    keep_header(ip);
  }
  deliver(arrival, packet, 0, now);
}

void PacketReceiver::received_v6(Interface& interface, Received& packet, Nanoseconds now) {
  ++counters_.received;
  header_bytes_ = 0;
  was_cut_ = false;
  Ipv6Header header;
  const bool is_good = read(packet.bytes, header) && header.version_class_flow >> 28 == 6 &&
                       header.payload_bytes + sizeof header <= packet.bytes.bytes();
  const IpAddress from = is_good ? IpAddress(header.source) : IpAddress();
  const IpAddress to = is_good ? IpAddress(header.destination) : IpAddress();
  // Mapped addresses are for programs alone: on the wire they would be taken for IPv4's (RFC 4942 2.2).
  if (!is_good || from.is_v4() || to.is_v4()) {
    ++counters_.bad_headers;
    return;
  }
  Arrival arrival{from, to, Protocol{header.next}, header.hop_limit,
                  static_cast<std::uint8_t>(header.version_class_flow >> 20)};
  if (!is_acceptable(interface, arrival)) return;
  packet.bytes.drop_back(packet.bytes.bytes() - header.payload_bytes - sizeof header);
  packet.bytes.drop_front(sizeof header);
  if (arrival.protocol != Protocol::tcp) keep_header(std::as_bytes(std::span(&header, 1)));
  walk_extensions(arrival, packet, now);
}

void PacketReceiver::walk_extensions(Arrival& arrival, Received& packet, Nanoseconds now) {
  std::size_t offset = sizeof(Ipv6Header);  // of what comes next, in the packet
  std::size_t count = 0;
  const auto is_extension = [&](Protocol protocol) {
    // Hop by hop: only directly behind IP's header.
    return (protocol == Protocol::hop_by_hop && count == 0) || protocol == Protocol::routing ||
           protocol == Protocol::destination_options || protocol == Protocol::fragment;
  };
  for (; is_extension(arrival.protocol); ++count) {
    if (count == InternetSettings::extension_headers) {
      ++counters_.bad_headers;
      return;
    }
    if (take_extension(arrival, packet, offset, now) == Next::ends) return;
  }
  if (arrival.protocol == Protocol::nothing) return;
  // What an error quotes is IP's header with the transport's: the way between them is left out.
  if (header_bytes_ == sizeof(Ipv6Header)) {
    header_[offsetof(Ipv6Header, next)] = std::byte{static_cast<std::uint8_t>(arrival.protocol)};
  }
  deliver(arrival, packet, offsetof(Ipv6Header, next), now);
}

PacketReceiver::Next PacketReceiver::take_extension(Arrival& arrival, Received& packet, std::size_t& offset,
                                                    Nanoseconds now) {
  if (arrival.protocol == Protocol::fragment) {
    offset += sizeof(Ipv6Fragment);
    return take_fragment(arrival, packet, now);
  }
  const std::span<const std::byte> begin = packet.bytes.front(8);
  const std::size_t bytes = begin.empty() ? 0 : (std::to_integer<std::size_t>(begin[1]) + 1) * 8;
  const std::span<const std::byte> header = bytes == 0 ? begin : packet.bytes.front(bytes);
  // A route that the sender chose and that is not at its end, or of the kind that RFC 5095 forbids.
  const bool is_bad_route = arrival.protocol == Protocol::routing && !header.empty() &&
                            (header[2] == std::byte{0} || header[3] != std::byte{0});
  if (header.empty() || is_bad_route) {
    ++counters_.bad_headers;
    return Next::ends;
  }
  if (arrival.protocol != Protocol::routing && take_options(arrival, header, offset, now) == Next::ends) {
    ++counters_.bad_headers;
    return Next::ends;
  }
  arrival.protocol = Protocol{std::to_integer<std::uint8_t>(header[0])};
  packet.bytes.drop_front(bytes);
  offset += bytes;
  return Next::goes_on;
}

PacketReceiver::Next PacketReceiver::take_options(const Arrival& arrival, std::span<const std::byte> header,
                                                  std::size_t offset, Nanoseconds now) {
  for (std::size_t at = 2; at < header.size();) {
    const auto kind = std::to_integer<std::uint8_t>(header[at]);
    if (kind == 0) {  // a byte of padding
      ++at;
      continue;
    }
    if (at + 2 > header.size()) return Next::ends;
    const std::size_t bytes = 2 + std::to_integer<std::size_t>(header[at + 1]);
    if (at + bytes > header.size()) return Next::ends;
    // The upper two bits say what is to be done by those who do not know it (RFC 8200 4.2).
    if (kind != 1 && kind >> 6 != 0) {
      if (kind >> 6 >= 2) {
        icmp_.send_error(IcmpError::unknown_option, arrival, this->header(), {},
                         static_cast<std::uint32_t>(offset + at), now);
      }
      return Next::ends;
    }
    at += bytes;
  }
  return Next::goes_on;
}

PacketReceiver::Next PacketReceiver::take_fragment(Arrival& arrival, Received& packet, Nanoseconds now) {
  Ipv6Fragment header;
  if (!read(packet.bytes, header)) {
    ++counters_.bad_headers;
    return Next::ends;
  }
  was_cut_ = true;
  packet.bytes.drop_front(sizeof header);
  const bool more = (header.offset_and_more & 1) != 0;
  const FragmentInfo info{header.identification, header.offset_and_more & 0xfff8u, more, Protocol{header.next}};
  // A piece that is all of it stands for itself (RFC 6946).
  if (!more && info.offset == 0) {
    arrival.protocol = info.next;
    return Next::goes_on;
  }
  if (!reassembly_.add(arrival, info, this->header(), packet.bytes, now)) return Next::ends;
  packet.transport_verified = false;
  packet.segment_bytes = 0;
  // A whole packet that is a piece again could go on for ever.
  return arrival.protocol == Protocol::fragment ? Next::ends : Next::goes_on;
}

void PacketReceiver::deliver(const Arrival& arrival, Received& packet, std::uint32_t pointer, Nanoseconds now) {
  if (around_.events.packet_arrived(arrival, packet, now)) {
    ++counters_.delivered;
    return;
  }
  ++counters_.unknown_protocols;
  std::array<std::byte, 8> rest;
  const auto count = std::min<std::size_t>(packet.bytes.bytes(), rest.size());
  if (count != 0) packet.bytes.copy_out(0, std::span(rest).first(count));
  icmp_.send_error(IcmpError::protocol_unreachable, arrival, header(), std::span(rest).first(count), pointer, now);
}

}  // namespace ingot::os::network
