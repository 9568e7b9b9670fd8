// SynCookies: what must be known of a peer that has sent a SYN, hidden in the numbers of our answer instead of being
// kept here (RFC 4987 3.6). Its ACK brings them back.
//
//   sequence number: 5 bits of the period | 3 bits: which MSS | 24 bits that only we can compute
//   timestamp:       its lowest 6 bits say the peer's scale and whether it takes selective acknowledgments
#pragma once

#include <cstdint>
#include <optional>

#include "os/network/flow.h"
#include "os/network/tcp/segment.h"

namespace ingot::os::network {

class SynCookies {
 public:
  explicit SynCookies(Machine& machine) : key_(draw_key(machine)) {}

  SequenceNumber make(const Flow& flow, const Segment& syn, Nanoseconds now) const;
  // The SYN as far as the ACK tells it. Nothing: its number is none of ours, or older than two periods.
  std::optional<Segment> check(const Flow& flow, const Segment& acknowledgment, std::uint32_t timestamp_offset,
                               Nanoseconds now) const;
  // A timestamp that is not after this one, with the SYN's options in it.
  static std::uint32_t hide_options(std::uint32_t timestamp, const Segment& syn);

 private:
  std::uint32_t secret_part(const Flow& flow, SequenceNumber theirs, std::uint64_t period, unsigned size_class) const;

  SipHashKey key_;
};

}  // namespace ingot::os::network
