#include "os/network/internet/neighbour_messages.h"

#include <cstring>

namespace ingot::os::network {

std::span<const std::byte> NeighbourOptions::find(std::span<const std::byte> bytes, std::uint8_t kind) {
  NeighbourOptions options{bytes};
  for (std::span<const std::byte> option = options.take(); !option.empty(); option = options.take()) {
    if (option[0] == std::byte{kind}) return option;
  }
  return {};
}

void NeighbourMessages::arp_received(Interface& interface, const ByteChain& packet, Nanoseconds now) {
  ArpPacket arp;
  const bool is_whole = packet.bytes() >= sizeof arp;
  if (is_whole) packet.copy_out(0, std::as_writable_bytes(std::span(&arp, 1)));
  if (!is_whole || arp.hardware_kind != 1 || arp.protocol_kind != static_cast<std::uint16_t>(FrameKind::ipv4) ||
      arp.hardware_bytes != sizeof(HardwareAddress) || arp.protocol_bytes != 4 ||
      (arp.operation != ArpPacket::request && arp.operation != ArpPacket::reply) || (arp.sender_hardware[0] & 1) != 0) {
    ++counters_.bad;
    return;
  }
  const IpAddress sender(arp.sender), target(arp.target);
  if (arp.sender_hardware == interface.hardware()) return;
  const OwnAddress* const own = interface.find(target);
  const bool only_probes = sender.is_unspecified();
  // Somebody who probes what we probe gets it no more than we do.
  const bool both_probe = only_probes && own != nullptr && own->state == OwnAddress::State::tentative &&
                          arp.operation == ArpPacket::request;
  if (both_probe) return keeper_.conflict(interface, target, now);
  if (interface.find(sender) != nullptr) return keeper_.conflict(interface, sender, now);
  if (!only_probes) {
    const bool is_answer = arp.operation == ArpPacket::reply && own != nullptr;
    neighbours_.heard(interface, sender, arp.sender_hardware, {is_answer, true});
  }
  if (arp.operation == ArpPacket::request && own != nullptr && own->is_usable()) {
    ++counters_.answered;
    answer_neighbour(interface, target, sender, arp.sender_hardware);
  }
}

void NeighbourMessages::received(Interface& interface, const Arrival& arrival, const HardwareAddress& sender,
                                 std::span<const std::byte> message, Nanoseconds now) {
  constexpr std::size_t fixed = sizeof(IcmpHeader) + 16;
  Parts parts;
  IcmpHeader header;
  IpAddress::V6 target;
  // A hop limit of 255 cannot come from beyond the link.
  bool is_good = arrival.hop_limit == 255 && message.size() >= fixed;
  if (is_good) {
    std::memcpy(&header, message.data(), sizeof header);
    std::memcpy(target.data(), message.data() + sizeof header, target.size());
    parts.target = IpAddress(target);
    is_good = header.code == 0 && !parts.target.is_multicast() && !parts.target.is_v4() &&
              NeighbourOptions::are_whole(message.subspan(fixed));
  }
  if (!is_good) {
    ++counters_.bad;
    return;
  }
  parts.flags = header.rest;
  const bool is_solicitation = header.type == NeighbourMessage::solicitation;
  const std::span<const std::byte> option = NeighbourOptions::find(
      message.subspan(fixed), is_solicitation ? NeighbourOption::source_hardware : NeighbourOption::target_hardware);
  if (option.size() == sizeof(HardwareOption)) {
    std::memcpy(parts.hardware.emplace().data(), option.data() + 2, sizeof(HardwareAddress));
  }
  if (is_solicitation) return solicited(interface, arrival, sender, parts, now);
  advertised(interface, arrival, parts, now);
}

void NeighbourMessages::solicited(Interface& interface, const Arrival& arrival, const HardwareAddress& sender,
                                  const Parts& parts, Nanoseconds now) {
  const bool only_probes = arrival.from.is_unspecified();
  if (only_probes && (arrival.to != solicited_node(parts.target) || parts.hardware)) {
    ++counters_.bad;
    return;
  }
  const OwnAddress* const own = interface.find(parts.target);
  if (own == nullptr) return;
  if (own->state == OwnAddress::State::tentative && only_probes) return keeper_.conflict(interface, parts.target, now);
  if (!own->is_usable()) return;
  if (parts.hardware) neighbours_.heard(interface, arrival.from, *parts.hardware, {false, true});
  ++counters_.answered;
  answer_neighbour(interface, parts.target, arrival.from, parts.hardware.value_or(sender));
}

void NeighbourMessages::advertised(Interface& interface, const Arrival& arrival, const Parts& parts, Nanoseconds now) {
  const bool is_answer = (parts.flags & AdvertisementFlags::solicited) != 0;
  if (is_answer && arrival.to_many) {
    ++counters_.bad;
    return;
  }
  if (interface.find(parts.target) != nullptr) return keeper_.conflict(interface, parts.target, now);
  if (!parts.hardware) return;
  neighbours_.heard(interface, parts.target, *parts.hardware,
                    {is_answer, (parts.flags & AdvertisementFlags::override) != 0});
}

}  // namespace ingot::os::network
