// PacketSender: puts IP's header before what a transport sends, cuts it where it is too long, and brings it to the
// neighbour.
#pragma once

#include <array>
#include <cstdint>

#include "base/siphash.h"
#include "os/network/internet/neighbours.h"

namespace ingot::os::network {

class PacketSender {
 public:
  PacketSender(Surroundings& around, Neighbours& neighbours);

  // As Internet::send.
  bool send(const Route& route, const Travel& travel, Outgoing& packet);

 private:
  struct Fragment {
    std::uint32_t identification = 0;
    std::uint16_t offset = 0;  // in bytes
    bool more = false;
  };

  // nullptr: it is no fragment.
  bool send_piece(const Route& route, const Travel& travel, const Fragment* fragment, Outgoing& packet);
  bool send_fragments(const Route& route, const Travel& travel, Outgoing& packet);
  static void push_v4(const Travel& travel, std::uint16_t identification, const Fragment* fragment, Outgoing& packet);
  static void push_v6(const Travel& travel, const Fragment* fragment, Outgoing& packet);
  // One after the other for each pair of machines, from a start that others cannot guess (RFC 7739 5.3).
  std::uint32_t next_identification(const Travel& travel);

  Surroundings& around_;
  Neighbours& neighbours_;
  IpCounters& counters_ = around_.counters.ip;
  SipHashKey secret_;
  std::array<std::uint32_t, 64> identifications_{};
};

}  // namespace ingot::os::network
