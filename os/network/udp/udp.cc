#include "os/network/udp/udp.h"

#include "os/network/udp/udp_socket.h"

namespace ingot::os::network {

std::optional<UdpHeader> Udp::take_header(const Arrival& arrival, Received& packet) {
  const std::span<std::byte> front = packet.bytes.front(sizeof(UdpHeader));
  if (front.empty()) return {};
  const UdpHeader header = *reinterpret_cast<const UdpHeader*>(front.data());
  if (header.bytes < sizeof(UdpHeader) || header.bytes > packet.bytes.bytes()) return {};
  packet.bytes.drop_back(packet.bytes.bytes() - header.bytes);
  if (header.checksum == 0) {
    if (!arrival.to.is_v4()) return {};  // RFC 8200 8.1: there it is not optional
  } else if (!packet.transport_verified) {
    Checksum sum = pseudo_header(arrival.from, arrival.to, Protocol::udp, header.bytes);
    packet.bytes.visit(0, header.bytes, [&](Block&, std::span<std::byte> part) { sum.add(part); });
    if (sum.result() != 0) return {};
  }
  packet.bytes.drop_front(sizeof(UdpHeader));
  return header;
}

void Udp::received(const Arrival& arrival, Received&& packet) {
  const std::optional<UdpHeader> header = take_header(arrival, packet);
  if (!header.has_value()) {
    ++counters_.malformed;
    return;
  }
  const Flow flow{{arrival.to, header->destination}, {arrival.from, header->source}};
  if (arrival.to_many) return deliver_to_all(flow, packet.bytes);
  Binding* const found =
      ports_.find(flow.local.port, static_cast<std::uint32_t>(flow.hash(key_)),
                  [&](const Binding& binding) { return static_cast<const UdpSocket&>(binding).score(flow); });
  if (found != nullptr) return static_cast<UdpSocket*>(found)->arrived(flow, std::move(packet.bytes));
  ++counters_.unknown_port;
  internet_.refuse_port(arrival, std::as_bytes(std::span(&*header, 1)));
}

void Udp::deliver_to_all(const Flow& flow, const ByteChain& bytes) {
  ports_.visit(flow.local.port, [&](Binding& binding) {
    UdpSocket& socket = static_cast<UdpSocket&>(binding);
    if (socket.score(flow) == 0) return;
    // Each has a chain of its own; the blocks are shared.
    ByteChain copy(machine_.blocks());
    bool is_whole = true;
    bytes.visit(0, bytes.bytes(), [&](Block& block, std::span<std::byte> part) {
      is_whole = is_whole && copy.add(Reference<Block>(block), part).ok();
    });
    if (is_whole) {
      socket.arrived(flow, std::move(copy));
    } else {
      ++counters_.no_room;
    }
  });
}

void Udp::refused(const Refusal& refusal) {
  const Flow flow{{refusal.from, refusal.source_port}, {refusal.to, refusal.destination_port}};
  ports_.visit(flow.local.port, [&](Binding& binding) {
    UdpSocket& socket = static_cast<UdpSocket&>(binding);
    if (socket.is_connected() && socket.score(flow) != 0) socket.refused(refusal);
  });
}

}  // namespace ingot::os::network
