// TcpHost: what a connection asks of the table that it stands in, and all connections share.
#pragma once

#include <cstdint>

#include "os/network/machine.h"
#include "os/network/port_table.h"
#include "os/network/tcp/segment.h"
#include "os/network/tcp/settings.h"
#include "os/network/timers.h"
#include "os/network/transport.h"

namespace ingot::os::network {

class TcpConnection;

// As /proc/net/snmp and netstat count.
struct TcpCounters {
  std::uint64_t active_opens = 0, passive_opens = 0, failed_attempts = 0, established_resets = 0;
  std::uint64_t received = 0, sent = 0, retransmitted = 0, received_wrong = 0, sent_resets = 0;
  std::uint64_t timeouts = 0, fast_recoveries = 0, spurious_recoveries = 0, zero_window_probes = 0, keep_alives = 0;
  std::uint64_t challenges = 0, old_timestamps = 0, out_of_order = 0, out_of_order_dropped = 0, compacted = 0;
  std::uint64_t duplicates_reported = 0, duplicates_heard = 0, timed_out = 0, orphans_dropped = 0, no_memory = 0;
};

// What is remembered of a connection in TIME-WAIT, and of one that was closed in FIN-WAIT-2.
struct TcpRemains {
  Endpoint local, remote;
  SequenceNumber send_next, receive_next;
  std::uint32_t receive_window = 0;
  std::uint8_t receive_scale = 0;
  bool has_timestamps : 1 = false, awaits_fin : 1 = false;
  PortSharing sharing = {};            // of the local port; the table's to fill in
  std::uint32_t recent_timestamp = 0;  // of the peer
  std::uint32_t timestamp_offset = 0;  // of ours
};

class TcpHost {
 public:
  TcpHost(Machine& its_machine, Internet& its_internet, NetworkTimers& its_timers, const TcpSettings& its_settings)
      : machine(its_machine), internet(its_internet), timers(its_timers), settings(its_settings) {}

  // A connection that began with the peer's SYN has its handshake behind it: it may be accepted.
  virtual void established(TcpConnection& connection) = 0;
  // No segment is for it any more; it is closed, though what it received may still be read. `remains`: TIME-WAIT goes
  // on without it; else its endpoints are free. It may be destroyed if this drops the last reference.
  virtual void closed(TcpConnection& connection, const TcpRemains* remains) = 0;
  // TcpConnection::send_pending is wanted: at the end of the batch of packets that is being taken in, or else soon.
  virtual void send_later(TcpConnection& connection) = 0;
  // The same, when its link has room again.
  virtual void send_when_room(TcpConnection& connection) = 0;

  // Whether one more challenge ACK may go out for what is no connection; it is counted (RFC 5961 7). How many a second
  // is drawn anew each time: who counts them shall not learn what was asked of others.
  bool may_challenge(Nanoseconds now);

  Machine& machine;
  Internet& internet;
  NetworkTimers& timers;
  const TcpSettings& settings;
  TcpCounters counters;
  std::uint32_t orphans = 0;

 protected:
  ~TcpHost() = default;

 private:
  Nanoseconds challenge_second_;
  std::uint32_t challenges_left_ = 0;
};

// Time as timestamps count it, before a connection's offset is added (RFC 7323 5.4: 1 ms).
constexpr std::uint32_t timestamp_clock(Nanoseconds now) {
  return static_cast<std::uint32_t>(static_cast<std::uint64_t>(now.count()) / 1'000'000);
}

// The smallest scale by which a window shows the largest buffer (RFC 7323 2.2).
std::uint8_t receive_scale(const TcpSettings& settings);
// What our SYNs and SYN-ACKs say.
std::uint16_t offered_segment(const TcpSettings& settings, const Route& route);

}  // namespace ingot::os::network
