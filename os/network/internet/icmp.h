// Icmp: for both versions (RFC 792, RFC 4443), echoes, what others tell us of packets that they could not deliver, and
// what we tell them.
#pragma once

#include <algorithm>
#include <span>

#include "os/network/internet/packet_sender.h"

namespace ingot::os::network {

// So many in a second, and as many at once; for answers that strangers can ask for.
class TokenBucket {
 public:
  explicit constexpr TokenBucket(std::uint32_t per_second) : interval_(second / per_second), left_(second) {}

  // False: not now.
  bool take(Nanoseconds now) {
    left_ = std::min(second, left_ + (now - last_).count());
    last_ = now;
    if (left_ < interval_) return false;
    left_ -= interval_;
    return true;
  }

 private:
  static constexpr std::int64_t second = 1'000'000'000;
  std::int64_t interval_, left_;  // in nanoseconds of waiting
  Nanoseconds last_;
};

// Why we do not want a packet.
enum class IcmpError : std::uint8_t { port_unreachable, protocol_unreachable, reassembly_expired, unknown_option };

class Icmp {
 public:
  Icmp(Surroundings& around, PacketSender& sender) : around_(around), sender_(sender) {}

  // Begins with ICMP's header.
  void received(const Arrival& arrival, ByteChain& packet, Nanoseconds now);
  // The sender is told, unless it is one that must not be. `header`: IP's; `rest`: how what it carries begins;
  // `pointer`: which byte is not understood.
  void send_error(IcmpError error, const Arrival& arrival, std::span<const std::byte> header,
                  std::span<const std::byte> rest, std::uint32_t pointer, Nanoseconds now);
  // What a packet of ours was, by its beginning from IP's header on; the transport that sent it is told.
  void refuse(Refusal::Kind kind, std::span<const std::byte> packet);

 private:
  struct Quote {
    Protocol protocol = Protocol::nothing;
    std::uint16_t bytes = 0;  // of the whole packet
    Refusal refusal;
  };

  static bool read_quote(std::span<const std::byte> packet, Quote& quote);
  void answer_echo(const Arrival& arrival, IcmpHeader& header, ByteChain& packet, Nanoseconds now);
  void refusal_received(const Arrival& arrival, const IcmpHeader& header, ByteChain& packet, Nanoseconds now);
  void too_big(Quote& quote, std::uint32_t told, Nanoseconds now);
  void send(const Arrival& to, const IcmpHeader& header, Outgoing& packet);

  Surroundings& around_;
  PacketSender& sender_;
  IcmpCounters& counters_ = around_.counters.icmp;
  TokenBucket echoes_{InternetSettings::echoes_per_second}, errors_{InternetSettings::errors_per_second};
};

}  // namespace ingot::os::network
