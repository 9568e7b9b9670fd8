// Segment: TCP's header with its options as numbers (RFC 9293 3.1), read from a packet that may lie, and written.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "os/network/tcp/sequence_number.h"
#include "os/network/tcp/settings.h"
#include "os/network/transport.h"

namespace ingot::os::network {

struct Segment {
  static constexpr std::size_t most_ranges = 4;

  std::uint16_t source = 0, destination = 0;  // ports
  SequenceNumber sequence, acknowledgment;
  std::uint8_t flags = 0;    // of TcpHeader
  std::uint16_t window = 0;  // as in the header: not scaled
  std::uint16_t urgent = 0;
  std::uint32_t payload_bytes = 0;
  bool is_marked = false;  // of its packet: a router says that it is congested (RFC 3168)

  std::uint16_t maximum_segment = 0;  // 0: not said
  bool may_select = false;            // SACK permitted
  bool has_timestamp = false;
  std::optional<std::uint8_t> scale;
  std::uint32_t timestamp = 0, echo = 0;
  std::uint8_t range_count = 0;
  std::array<SequenceRange, most_ranges> ranges{};  // SACK: the first range_count

  bool has(std::uint8_t flag) const { return (flags & flag) != 0; }
  // What it takes of the sequence: a SYN and a FIN count one each.
  std::uint32_t length() const { return payload_bytes + (has(TcpHeader::syn) ? 1 : 0) + (has(TcpHeader::fin) ? 1 : 0); }
  SequenceNumber end() const { return sequence + length(); }
};

// Takes the header off the packet's front; what is left is the payload. Nothing: lengths or the checksum are wrong.
std::optional<Segment> take_segment(const Arrival& arrival, Received& packet);

// Bytes of the options of a segment that is no SYN: what the payload loses of the MSS.
std::uint32_t option_bytes(const Segment& segment);

// A segment's payload: payload_bytes of the chain from `begin`; where the link cuts, several segments' at once, each
// with `cut` bytes.
struct SegmentPayload {
  const ByteChain* chain = nullptr;
  std::uint64_t begin = 0;
  std::uint16_t cut = 0;
};

// Whether the route's link takes several segments at once.
bool link_cuts(const Route& route);

// Header, options and checksum, and away. False: the link has no room.
bool send_segment(Internet& internet, const Route& route, const Travel& travel, const Segment& segment,
                  OptionLayout layout, SegmentPayload payload = {});

// What answers a segment that belongs to nobody (RFC 9293 3.5.2). Precondition: it is no reset itself.
Segment reset_for(const Segment& segment);

}  // namespace ingot::os::network
