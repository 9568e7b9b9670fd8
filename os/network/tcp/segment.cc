#include "os/network/tcp/segment.h"

#include <algorithm>
#include <cstring>

namespace ingot::os::network {

namespace {

namespace option {
constexpr std::uint8_t end = 0, nothing = 1, maximum_segment = 2, scale = 3, may_select = 4, ranges = 5, timestamps = 8;
}

template <class Number>
Number read_big(std::span<const std::byte> bytes, std::size_t at) {
  BigEndian<Number> number;
  std::memcpy(&number, bytes.data() + at, sizeof(number));
  return number;
}

// `body`: without kind and length. An option of a length that it cannot have is passed over (RFC 9293 3.1).
void read_option(std::uint8_t kind, std::span<const std::byte> body, Segment& segment) {
  const bool is_syn = segment.has(TcpHeader::syn);
  if (kind == option::maximum_segment && body.size() == 2 && is_syn) {
    segment.maximum_segment = read_big<std::uint16_t>(body, 0);
  } else if (kind == option::scale && body.size() == 1 && is_syn) {
    segment.scale = std::min<std::uint8_t>(static_cast<std::uint8_t>(body[0]), 14);  // RFC 7323 2.3
  } else if (kind == option::may_select && body.empty() && is_syn) {
    segment.may_select = true;
  } else if (kind == option::timestamps && body.size() == 8) {
    segment.has_timestamp = true;
    segment.timestamp = read_big<std::uint32_t>(body, 0);
    segment.echo = read_big<std::uint32_t>(body, 4);
  } else if (kind == option::ranges && body.size() % 8 == 0 && body.size() <= 8 * Segment::most_ranges) {
    segment.range_count = static_cast<std::uint8_t>(body.size() / 8);
    for (std::size_t i = 0; i < segment.range_count; ++i) {
      segment.ranges[i] = {SequenceNumber(read_big<std::uint32_t>(body, 8 * i)),
                           SequenceNumber(read_big<std::uint32_t>(body, 8 * i + 4))};
    }
  }
}

void read_options(std::span<const std::byte> bytes, Segment& segment) {
  while (!bytes.empty()) {
    const auto kind = static_cast<std::uint8_t>(bytes[0]);
    if (kind == option::end) return;
    if (kind == option::nothing) {
      bytes = bytes.subspan(1);
      continue;
    }
    if (bytes.size() < 2) return;
    const auto length = static_cast<std::size_t>(bytes[1]);
    if (length < 2 || length > bytes.size()) return;  // what follows cannot be found
    read_option(kind, bytes.subspan(2, length - 2), segment);
    bytes = bytes.subspan(length);
  }
}

class OptionWriter {
 public:
  // The wire wants options' numbers at multiples of 4: they begin where `place` bytes beyond one are filled.
  void align(std::size_t place) {
    while (count_ % 4 != place) put(option::nothing);
  }
  void put(std::uint8_t byte) { bytes_[count_++] = std::byte{byte}; }
  template <class Number>
  void put_big(Number number) {
    const BigEndian<Number> big(number);
    std::memcpy(bytes_.data() + count_, &big, sizeof(big));
    count_ += sizeof(big);
  }
  std::span<const std::byte> finish() {
    while (count_ % 4 != 0) put(option::end);
    return std::span(bytes_).first(count_);
  }

  void put_scale(const Segment& segment) {
    if (!segment.scale) return;
    align(1);
    put(option::scale), put(3), put(*segment.scale);
  }
  void put_may_select(const Segment& segment) {
    if (segment.may_select) put(option::may_select), put(2);
  }
  void put_timestamps(const Segment& segment) {
    if (!segment.has_timestamp) return;
    align(2);
    put(option::timestamps), put(10);
    put_big(segment.timestamp), put_big(segment.echo);
  }

 private:
  std::array<std::byte, 40> bytes_;
  std::size_t count_ = 0;
};

std::span<const std::byte> write_options(const Segment& segment, OptionLayout layout, OptionWriter& writer) {
  if (segment.maximum_segment != 0) {
    writer.put(option::maximum_segment), writer.put(4), writer.put_big(segment.maximum_segment);
  }
  if (layout == OptionLayout::scale_first) {
    writer.put_scale(segment);
    writer.put_may_select(segment);
    writer.put_timestamps(segment);
  } else {
    if (segment.may_select && !segment.has_timestamp) writer.align(2);
    writer.put_may_select(segment);
    writer.put_timestamps(segment);
    writer.put_scale(segment);
  }
  if (segment.range_count != 0) {
    writer.align(2);
    writer.put(option::ranges), writer.put(static_cast<std::uint8_t>(2 + 8 * segment.range_count));
    for (std::size_t i = 0; i < segment.range_count; ++i) {
      writer.put_big(segment.ranges[i].begin.value()), writer.put_big(segment.ranges[i].end.value());
    }
  }
  return writer.finish();
}

Checksum complete(const Outgoing& packet, Checksum sum) {
  sum.add(packet.header());
  if (packet.payload_bytes != 0) {
    packet.chain->visit(packet.payload_begin, packet.payload_bytes,
                        [&](Block&, std::span<std::byte> part) { sum.add(part); });
  }
  return sum;
}

bool is_whole(const Arrival& arrival, const Received& packet) {
  Checksum sum =
      pseudo_header(arrival.from, arrival.to, Protocol::tcp, static_cast<std::uint32_t>(packet.bytes.bytes()));
  packet.bytes.visit(0, packet.bytes.bytes(), [&](Block&, std::span<std::byte> part) { sum.add(part); });
  return sum.result() == 0;
}

}  // namespace

std::optional<Segment> take_segment(const Arrival& arrival, Received& packet) {
  if (packet.bytes.bytes() < sizeof(TcpHeader)) return {};
  if (!packet.transport_verified && !is_whole(arrival, packet)) return {};
  std::span<std::byte> bytes = packet.bytes.front(sizeof(TcpHeader));
  if (bytes.empty()) return {};
  const std::size_t header_bytes = reinterpret_cast<const TcpHeader*>(bytes.data())->words_and_reserved / 16 * 4;
  if (header_bytes < sizeof(TcpHeader) || header_bytes > packet.bytes.bytes()) return {};
  bytes = packet.bytes.front(header_bytes);
  if (bytes.empty()) return {};
  const TcpHeader& header = *reinterpret_cast<const TcpHeader*>(bytes.data());
  Segment segment;
  segment.source = header.source;
  segment.destination = header.destination;
  segment.sequence = SequenceNumber(header.sequence);
  segment.acknowledgment = SequenceNumber(header.acknowledgment);
  segment.flags = header.flags;
  segment.window = header.window;
  segment.urgent = header.urgent;
  segment.is_marked = (arrival.service & 3) == 3;
  segment.payload_bytes = static_cast<std::uint32_t>(packet.bytes.bytes() - header_bytes);
  read_options(bytes.subspan(sizeof(TcpHeader)), segment);
  packet.bytes.drop_front(header_bytes);
  return segment;
}

std::uint32_t option_bytes(const Segment& segment) {
  return (segment.has_timestamp ? 12 : 0) + (segment.range_count != 0 ? 4 + 8 * segment.range_count : 0);
}

bool link_cuts(const Route& route) {
  const LinkProperties& link = route.link->properties();
  return link.computes_checksums && (route.source.is_v4() ? link.cuts_v4 : link.cuts_v6);
}

bool send_segment(Internet& internet, const Route& route, const Travel& travel, const Segment& segment,
                  OptionLayout layout, SegmentPayload payload) {
  Outgoing packet;
  packet.chain = payload.chain;
  packet.payload_begin = payload.begin;
  packet.payload_bytes = segment.payload_bytes;
  packet.segment_bytes = payload.cut;
  OptionWriter writer;
  const std::span<const std::byte> options = write_options(segment, layout, writer);
  if (!options.empty()) std::memcpy(packet.push_bytes(options.size()).data(), options.data(), options.size());
  TcpHeader& header = packet.push_header<TcpHeader>();
  header.source = segment.source;
  header.destination = segment.destination;
  header.sequence = segment.sequence.value();
  header.acknowledgment = segment.acknowledgment.value();
  header.words_and_reserved = static_cast<std::uint8_t>((sizeof(TcpHeader) + options.size()) / 4 * 16);
  header.flags = segment.flags;
  header.window = segment.window;
  header.urgent = segment.urgent;
  header.checksum = 0;
  const Checksum pseudo =
      pseudo_header(travel.from, travel.to, Protocol::tcp, static_cast<std::uint32_t>(packet.bytes()));
  if (route.link->properties().computes_checksums) {
    header.checksum = pseudo.folded();
    packet.checksum_from_end = static_cast<std::uint16_t>(packet.header().size());
    packet.checksum_field = offsetof(TcpHeader, checksum);
  } else {
    header.checksum = complete(packet, pseudo).result();
  }
  return internet.send(route, travel, packet);
}

Segment reset_for(const Segment& segment) {
  Segment reset;
  reset.source = segment.destination;
  reset.destination = segment.source;
  if (segment.has(TcpHeader::ack)) {
    reset.flags = TcpHeader::rst;
    reset.sequence = segment.acknowledgment;
  } else {
    reset.flags = TcpHeader::rst | TcpHeader::ack;
    reset.acknowledgment = segment.end();
  }
  return reset;
}

}  // namespace ingot::os::network
