// Handshake: a connection that a peer has begun by a SYN and we have answered, and no more is known of it yet. It costs
// a small record, because anybody may send SYNs from addresses that are not his.
#pragma once

#include <cstdint>

#include "base/intrusive_list.h"
#include "os/network/port_table.h"
#include "os/network/tcp/host.h"

namespace ingot::os::network {

class Tcp;
class TcpListener;

class Handshake final : public HashLink<struct HandshakeTag>,
                        public ListLink<struct HandshakeTag>,
                        private NetworkTimer {
 public:
  Handshake(Tcp& tcp, TcpListener& its_listener, const Flow& its_flow, const Segment& its_syn, SequenceNumber ours)
      : listener(its_listener), flow(its_flow), sequence(ours), tcp_(tcp), syn_(its_syn) {}
  ~Handshake();

  // What it began with.
  const Segment& syn() const { return syn_; }
  // Answers the SYN; and again after a while, as long as the peer is silent.
  void begin(Nanoseconds now);
  // The peer's SYN came again: our answer may be lost.
  void came_again(const Segment& again, Nanoseconds now);

  TcpListener& listener;
  const Flow flow;
  const SequenceNumber sequence;  // ours
  Nanoseconds answered_at{-1};    // below 0: more than once, so that nobody knows which is acknowledged

 private:
  void expired(Nanoseconds now) override;
  void answer(Nanoseconds now);

  Tcp& tcp_;
  Segment syn_;
  std::uint8_t tries_ = 0;
};
static_assert(sizeof(Handshake) <= 256);

}  // namespace ingot::os::network
