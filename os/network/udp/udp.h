// Udp: datagrams (RFC 768) find their sockets, and what could not be delivered finds its sender.
#pragma once

#include <cstdint>
#include <optional>

#include "os/network/machine.h"
#include "os/network/port_table.h"
#include "os/network/transport.h"

namespace ingot::os::network {

struct UdpCounters {
  std::uint64_t received = 0, sent = 0;
  std::uint64_t unknown_port = 0;  // nobody was bound there
  std::uint64_t malformed = 0;     // lengths or the checksum were wrong
  std::uint64_t no_room = 0;       // the socket's buffer was full, or there was no memory
  std::uint64_t unsent = 0;        // the link had no room
};

class Udp final : public Transport {
 public:
  Udp(Machine& machine, Internet& internet)
      : machine_(machine), internet_(internet), ports_(machine, internet), key_(draw_key(machine)) {}

  void received(const Arrival& arrival, Received&& packet) override;
  void refused(const Refusal& refusal) override;

  const UdpCounters& counters() const { return counters_; }
  // use(UdpSocket&) for each that is bound, in no order.
  template <class Use>
  void visit(Use&& use);

 private:
  friend class UdpSocket;

  // What is left of the packet are the datagram's own bytes. Nothing: it is not whole.
  static std::optional<UdpHeader> take_header(const Arrival& arrival, Received& packet);
  void deliver_to_all(const Flow& flow, const ByteChain& bytes);

  Machine& machine_;
  Internet& internet_;
  PortTable ports_;
  SipHashKey key_;
  UdpCounters counters_;
};

}  // namespace ingot::os::network
