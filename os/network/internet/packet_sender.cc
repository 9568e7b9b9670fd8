#include "os/network/internet/packet_sender.h"

#include <algorithm>
#include <cstring>

namespace ingot::os::network {

namespace {

constexpr std::uint64_t longest = 0xffff;

std::size_t header_bytes(const Travel& travel) { return travel.to.is_v4() ? sizeof(Ipv4Header) : sizeof(Ipv6Header); }

}  // namespace

PacketSender::PacketSender(Surroundings& around, Neighbours& neighbours) : around_(around), neighbours_(neighbours) {
  around.machine.fill_random(std::as_writable_bytes(std::span(&secret_, 1)));
}

std::uint32_t PacketSender::next_identification(const Travel& travel) {
  const std::array<IpAddress, 2> both{travel.from, travel.to};
  const std::uint64_t hash = siphash(secret_, std::as_bytes(std::span(both)));
  return static_cast<std::uint32_t>(hash) + identifications_[hash >> 58]++;
}

bool PacketSender::send(const Route& route, const Travel& travel, Outgoing& packet) {
  const std::uint64_t bytes = packet.bytes() + header_bytes(travel);
  const bool is_too_long = bytes > route.mtu && packet.segment_bytes == 0;
  if (bytes > longest || (is_too_long && !travel.may_be_cut)) {
    ++counters_.too_long;
    return true;
  }
  return is_too_long ? send_fragments(route, travel, packet) : send_piece(route, travel, nullptr, packet);
}

void PacketSender::push_v4(const Travel& travel, std::uint16_t identification, const Fragment* fragment,
                           Outgoing& packet) {
  Ipv4Header& header = packet.push_header<Ipv4Header>();
  std::uint16_t place = travel.may_be_cut ? 0 : Ipv4Header::do_not_fragment;
  if (fragment != nullptr) place = static_cast<std::uint16_t>(fragment->offset / 8);
  if (fragment != nullptr && fragment->more) place |= Ipv4Header::more_fragments;
  const auto bytes = static_cast<std::uint16_t>(packet.bytes());
  header = {0x45,
            travel.service,
            bytes,
            identification,
            place,
            travel.hop_limit,
            static_cast<std::uint8_t>(travel.protocol),
            0,
            travel.from.as_v4(),
            travel.to.as_v4()};
  Checksum sum;
  sum.add(packet.header().first(sizeof(Ipv4Header)));
  header.checksum = sum.result();
}

void PacketSender::push_v6(const Travel& travel, const Fragment* fragment, Outgoing& packet) {
  Protocol next = travel.protocol;
  if (fragment != nullptr) {
    const auto place = static_cast<std::uint16_t>(fragment->offset | (fragment->more ? 1 : 0));
    packet.push_header<Ipv6Fragment>() = {static_cast<std::uint8_t>(next), 0, place, fragment->identification};
    next = Protocol::fragment;
  }
  const auto bytes = static_cast<std::uint16_t>(packet.bytes());
  packet.push_header<Ipv6Header>() = {6u << 28 | std::uint32_t{travel.service} << 20,
                                      bytes,
                                      static_cast<std::uint8_t>(next),
                                      travel.hop_limit,
                                      travel.from.bytes(),
                                      travel.to.bytes()};
}

bool PacketSender::send_piece(const Route& route, const Travel& travel, const Fragment* fragment, Outgoing& packet) {
  ++counters_.sent;
  FrameKind kind = FrameKind::ipv6;
  if (travel.to.is_v4()) {
    // What is never cut needs no identification (RFC 6864).
    std::uint32_t identification = 0;
    if (travel.may_be_cut)
      identification = fragment != nullptr ? fragment->identification : next_identification(travel);
    push_v4(travel, static_cast<std::uint16_t>(identification), fragment, packet);
    kind = FrameKind::ipv4;
  } else {
    push_v6(travel, fragment, packet);
  }
  Interface* const interface = around_.routes.find(route.link);
  if (interface == nullptr) return true;
  if (route.to_many || interface->is_loop()) {
    return interface->send(shared_hardware_address(route.next_hop), kind, packet);
  }
  return neighbours_.send(*interface, route.next_hop, kind, packet);
}

bool PacketSender::send_fragments(const Route& route, const Travel& travel, Outgoing& packet) {
  const std::size_t before = header_bytes(travel) + (travel.to.is_v4() ? 0 : sizeof(Ipv6Fragment));
  const std::size_t room = (route.mtu - before) / 8 * 8;
  const std::size_t header = packet.header().size();
  const std::size_t bytes = packet.bytes();
  Fragment fragment{next_identification(travel), 0, true};
  for (std::size_t at = 0; at < bytes; at += room) {
    const std::size_t here = std::min(room, bytes - at);
    // The transport's header goes with the first. Precondition of all links: it fits there.
    const std::size_t copied = at == 0 ? header : 0;
    Outgoing piece;
    std::memcpy(piece.push_bytes(copied).data(), packet.header().data(), copied);
    piece.chain = packet.chain;
    piece.payload_begin = packet.payload_begin + at + copied - header;
    piece.payload_bytes = static_cast<std::uint32_t>(here - copied);
    fragment.offset = static_cast<std::uint16_t>(at);
    fragment.more = at + here < bytes;
    ++counters_.fragments_sent;
    // Behind the first, a piece that the link does not take is lost like one on the way.
    if (!send_piece(route, travel, &fragment, piece)) return at != 0;
  }
  return true;
}

}  // namespace ingot::os::network
