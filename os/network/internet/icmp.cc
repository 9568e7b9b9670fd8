#include "os/network/internet/icmp.h"

#include <algorithm>
#include <cstring>

#include "os/network/internet/packet_sum.h"

namespace ingot::os::network {

namespace {

// What a type and a code say of a packet of ours. Nothing: it is not about one, or no news for a transport.
std::optional<Refusal::Kind> kind_of(bool is_v4, const IcmpHeader& header) {
  using enum Refusal::Kind;
  static constexpr Refusal::Kind by_code_v4[] = {
      unreachable_network, unreachable_host,    unreachable_port, unreachable_port, too_big,
      unreachable_host,    unreachable_network, unreachable_host, unreachable_host, prohibited,
      prohibited,          unreachable_network, unreachable_host, prohibited};
  static constexpr Refusal::Kind by_code_v6[] = {unreachable_network, prohibited, unreachable_host, unreachable_host,
                                                 unreachable_port,    prohibited, prohibited};
  if (header.type == (is_v4 ? 11 : 3)) return header.code == 0 ? std::optional(expired) : std::nullopt;
  if (!is_v4 && header.type == 2) return too_big;
  if (!is_v4 && header.type == 4 && header.code == 1) return unreachable_port;
  if (header.type != (is_v4 ? 3 : 1)) return {};
  const std::span<const Refusal::Kind> by_code = is_v4 ? std::span<const Refusal::Kind>(by_code_v4) : by_code_v6;
  return header.code < by_code.size() ? by_code[header.code] : unreachable_host;
}

IcmpHeader header_of(bool is_v4, IcmpError error, std::uint32_t pointer) {
  struct Row {
    std::uint8_t type_v4, code_v4, type_v6, code_v6;
  };
  static constexpr Row rows[] = {{3, 3, 1, 4}, {3, 2, 4, 1}, {11, 1, 3, 1}, {12, 0, 4, 2}};
  const Row& row = rows[static_cast<std::size_t>(error)];
  if (is_v4) return {row.type_v4, row.code_v4, 0, 0};
  return {row.type_v6, row.code_v6, 0, pointer};
}

// A router before RFC 1191 does not say what fits: the next lower of the sizes that links have.
std::uint16_t lower_plateau(std::uint16_t bytes) {
  for (const std::uint16_t plateau : {32000, 17914, 8166, 4352, 2002, 1492, 1006}) {
    if (plateau < bytes) return plateau;
  }
  return InternetSettings::least_v4_path;
}

}  // namespace

void Icmp::received(const Arrival& arrival, ByteChain& packet, Nanoseconds now) {
  ++counters_.received;
  const bool is_v4 = arrival.from.is_v4();
  Checksum sum;
  if (!is_v4) {
    sum = pseudo_header(arrival.from, arrival.to, Protocol::icmpv6, static_cast<std::uint32_t>(packet.bytes()));
  }
  add_to(sum, packet, 0, packet.bytes());
  if (packet.bytes() < sizeof(IcmpHeader) || sum.result() != 0) {
    ++counters_.bad;
    return;
  }
  IcmpHeader header;
  packet.copy_out(0, std::as_writable_bytes(std::span(&header, 1)));
  if (header.type == (is_v4 ? 8 : 128)) return answer_echo(arrival, header, packet, now);
  if (!is_v4 && header.type >= 133 && header.type <= 137) {
    const std::span<const std::byte> message = packet.front(packet.bytes());
    if (!message.empty()) around_.events.neighbour_message(arrival, message, now);
    return;
  }
  refusal_received(arrival, header, packet, now);
}

void Icmp::answer_echo(const Arrival& arrival, IcmpHeader& header, ByteChain& packet, Nanoseconds now) {
  // An echo to everybody would multiply (RFC 1122 3.2.2.6 lets us be silent); IPv6's may ask who is there.
  if (arrival.to_many && arrival.from.is_v4()) return;
  if (!echoes_.take(now)) {
    ++counters_.rate_limited;
    return;
  }
  ++counters_.echoes;
  header.type = arrival.from.is_v4() ? 0 : 129;
  packet.drop_front(sizeof(IcmpHeader));
  Outgoing answer;
  answer.chain = &packet;
  answer.payload_bytes = static_cast<std::uint32_t>(packet.bytes());
  send(arrival, header, answer);
}

// From who was meant to the one who sent.
void Icmp::send(const Arrival& to, const IcmpHeader& header, Outgoing& packet) {
  const Answer<Route> route = around_.routes.find(to.from, to.to_many ? IpAddress() : to.to);
  if (!route.ok()) return;
  const Protocol protocol = to.from.is_v4() ? Protocol::icmp : Protocol::icmpv6;
  const Travel travel{route.value().source, to.from, protocol, 64, 0, true};
  IcmpHeader& own = packet.push_header<IcmpHeader>();
  own = header;
  own.checksum = 0;
  Checksum sum;
  if (!to.from.is_v4()) {
    sum = pseudo_header(travel.from, travel.to, protocol, static_cast<std::uint32_t>(packet.bytes()));
  }
  add_to(sum, packet);
  own.checksum = sum.result();
  (void)sender_.send(route.value(), travel, packet);
}

void Icmp::send_error(IcmpError error, const Arrival& arrival, std::span<const std::byte> header,
                      std::span<const std::byte> rest, std::uint32_t pointer, Nanoseconds now) {
  const bool is_icmp = arrival.protocol == Protocol::icmp || arrival.protocol == Protocol::icmpv6;
  if (is_icmp || header.empty() || arrival.to_many || arrival.from.is_unspecified() || arrival.from.is_multicast())
    return;
  if (!errors_.take(now)) {
    ++counters_.rate_limited;
    return;
  }
  ++counters_.errors_sent;
  Outgoing packet;
  std::copy(rest.begin(), rest.end(), packet.push_bytes(rest.size()).begin());
  std::copy(header.begin(), header.end(), packet.push_bytes(header.size()).begin());
  send(arrival, header_of(arrival.from.is_v4(), error, pointer), packet);
}

// Only what is ours, whole enough to tell whose, and its first piece.
bool Icmp::read_quote(std::span<const std::byte> packet, Quote& quote) {
  std::size_t at = 0;
  const auto version = packet.empty() ? 0 : std::to_integer<unsigned>(packet[0]) >> 4;
  if (packet.size() >= sizeof(Ipv4Header) && version == 4) {
    Ipv4Header header;
    std::memcpy(&header, packet.data(), sizeof header);
    at = (header.version_and_words & 0xfu) * 4;
    if (at < sizeof header || (header.fragment & Ipv4Header::offset_mask) != 0) return false;
    quote.refusal.from = IpAddress(header.source);
    quote.refusal.to = IpAddress(header.destination);
    quote.protocol = Protocol{header.protocol};
    quote.bytes = header.total_bytes;
  } else if (packet.size() >= sizeof(Ipv6Header) && version == 6) {
    Ipv6Header header;
    std::memcpy(&header, packet.data(), sizeof header);
    at = sizeof header;
    quote.refusal.from = IpAddress(header.source);
    quote.refusal.to = IpAddress(header.destination);
    quote.protocol = Protocol{header.next};
    quote.bytes = header.payload_bytes;
    // We send no other extension headers.
    if (quote.protocol == Protocol::fragment && packet.size() >= at + sizeof(Ipv6Fragment)) {
      Ipv6Fragment fragment;
      std::memcpy(&fragment, packet.data() + at, sizeof fragment);
      if (fragment.offset_and_more >> 3 != 0) return false;
      quote.protocol = Protocol{fragment.next};
      at += sizeof fragment;
    }
  }
  if (at == 0 || packet.size() < at + 8) return false;
  Big16 ports[2];
  Big32 sequence;
  std::memcpy(ports, packet.data() + at, 4);
  std::memcpy(&sequence, packet.data() + at + 4, 4);
  quote.refusal.source_port = ports[0];
  quote.refusal.destination_port = ports[1];
  quote.refusal.sequence = sequence;
  return true;
}

void Icmp::refusal_received(const Arrival& arrival, const IcmpHeader& header, ByteChain& packet, Nanoseconds now) {
  const std::optional<Refusal::Kind> kind = kind_of(arrival.from.is_v4(), header);
  if (!kind || arrival.to_many) return;
  packet.drop_front(sizeof(IcmpHeader));
  const std::size_t quoted = std::min<std::uint64_t>(packet.bytes(), 68);  // IP's longest header, and 8
  Quote quote;
  // It came to the one who sent what it is about; nobody else has a say.
  if (!read_quote(packet.front(quoted), quote) || quote.refusal.from != arrival.to) {
    ++counters_.bad;
    return;
  }
  ++counters_.refusals;
  quote.refusal.kind = *kind;
  if (*kind == Refusal::Kind::too_big) return too_big(quote, header.rest, now);
  around_.events.refused(quote.protocol, quote.refusal);
}

void Icmp::too_big(Quote& quote, std::uint32_t told, Nanoseconds now) {
  const bool is_v4 = quote.refusal.to.is_v4();
  std::uint32_t mtu = is_v4 ? told & 0xffff : std::min<std::uint32_t>(told, 0xffff);
  if (is_v4 && mtu == 0) mtu = lower_plateau(quote.bytes);
  mtu = std::max<std::uint32_t>(mtu, is_v4 ? InternetSettings::least_v4_path : InternetSettings::least_v6_path);
  quote.refusal.mtu = static_cast<std::uint16_t>(mtu);
  (void)around_.routes.path_shrank(quote.refusal.to, quote.refusal.mtu, now);
  around_.events.refused(quote.protocol, quote.refusal);
}

void Icmp::refuse(Refusal::Kind kind, std::span<const std::byte> packet) {
  Quote quote;
  if (!read_quote(packet, quote)) return;
  quote.refusal.kind = kind;
  around_.events.refused(quote.protocol, quote.refusal);
}

}  // namespace ingot::os::network
