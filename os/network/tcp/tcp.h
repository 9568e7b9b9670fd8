// Tcp: finds the connection that a segment is for, or what else it concerns: a handshake, a listener, a TIME-WAIT; and
// begins connections, ours and others'.
//
//   received --> connection? --> segment_arrived
//            --> handshake?  --> its ACK makes a connection, which waits in its listener to be accepted
//            --> TIME-WAIT?  --> an ACK, or it gives way to a new SYN
//            --> listener?   --> SYN: a handshake, or a cookie where there are too many; ACK: a cookie comes back
//            --> nobody      --> reset
#pragma once

#include <cstdint>
#include <optional>

#include "os/memory/owned.h"
#include "os/network/tcp/listener.h"
#include "os/network/tcp/syn_cookies.h"
#include "os/network/tcp/time_waits.h"

namespace ingot::os::network {

// Beside those of TcpHost: as netstat counts what concerns no connection yet, or none any more.
struct TcpTableCounters {
  std::uint64_t cookies_sent = 0, cookies_received = 0, cookies_refused = 0;
  std::uint64_t listen_overflows = 0;  // SYNs and ACKs dropped because too many waited for accept
  std::uint64_t handshakes_given_up = 0, time_waits = 0, time_waits_reused = 0, resets_withheld = 0;
};

// A row of /proc/net/tcp.
struct TcpRow {
  Flow flow;
  TcpState state = TcpState::closed;
  std::uint64_t to_send = 0, to_read = 0;  // of a listener: how many wait, as the second
};

class Tcp final : public Transport, public TcpHost, private NetworkTimer {
 public:
  Tcp(Machine& its_machine, Internet& its_internet, NetworkTimers& its_timers, const TcpSettings& its_settings);
  // Precondition: its listeners are gone.
  ~Tcp();

  void received(const Arrival& arrival, Received&& packet) override;
  void refused(const Refusal& refusal) override;
  // At the end of a batch of packets: what has become possible is sent.
  void send_pending(Nanoseconds now);
  // A link has room again, or has come up.
  void link_changed(Nanoseconds now);

  // Sockets bind by it.
  PortTable& ports() { return ports_; }
  // The binding's port, if it has one, becomes the connection's. EADDRNOTAVAIL: no port is left for this remote end.
  Answer<Reference<TcpConnection>> connect(Binding& binding, const Endpoint& to, const TcpOptions& options,
                                           SocketEvents& events, Nanoseconds now);
  // The binding's port, or any, becomes the listener's. EADDRINUSE: somebody listens there.
  Answer<Owned<TcpListener>> listen(Binding& binding, std::uint32_t backlog, const TcpOptions& options,
                                    SocketEvents& events);

  const TcpTableCounters& table_counters() const { return table_counters_; }
  std::size_t connection_count() const { return connections_.count(); }
  std::size_t handshake_count() const { return handshakes_.count(); }
  std::size_t time_wait_count() const { return time_waits_.count(); }
  std::size_t longest_chain() const { return connections_.longest_chain(); }
  // use(const TcpRow&) for each, in no order.
  template <class Use>
  void visit(Use&& use) {
    ports_.visit_all([&](Binding& binding) {
      if (binding.listens()) use(TcpRow{{binding.local(), {}}, TcpState::listen, 0, waiting_in(binding)});
    });
    connections_.visit([&](TcpConnection& connection) { use(row_of(connection)); });
    handshakes_.visit([&](Handshake& handshake) { use(TcpRow{handshake.flow, TcpState::syn_received}); });
    time_waits_.visit([&](const TimeWait& record) {
      use(TcpRow{record.flow(), record.remains.awaits_fin ? TcpState::fin_wait_2 : TcpState::time_wait});
    });
  }

 private:
  friend class TcpListener;
  friend class Handshake;

  // A segment that is no connection's, on its way through those whom it may concern.
  struct Incoming {
    const Flow& flow;
    std::uint64_t hash;
    const Segment& segment;
    Received& packet;
    Nanoseconds now;
  };

  void established(TcpConnection& connection) override;
  void closed(TcpConnection& connection, const TcpRemains* remains) override;
  void send_later(TcpConnection& connection) override;
  void send_when_room(TcpConnection& connection) override;
  void expired(Nanoseconds now) override { send_pending(now); }

  TcpConnection* find(const Flow& flow, std::uint64_t hash);
  Handshake* find_handshake(const Flow& flow, std::uint64_t hash);
  TcpListener* find_listener(const Flow& flow, std::uint64_t hash);
  // `start`: what is left by a TIME-WAIT that gave way.
  void arrived_at_listener(TcpListener& listener, const Incoming& incoming, std::optional<SequenceNumber> start);
  void arrived_in_handshake(Handshake& handshake, const Incoming& incoming);
  void begin_handshake(TcpListener& listener, const Incoming& incoming, SequenceNumber sequence);
  void send_cookie(TcpListener& listener, const Incoming& incoming);
  // Its listener has room for the connection that the ACK makes of it; false where there is none, or no memory.
  bool finish_handshake(TcpListener& listener, const Incoming& incoming, const Segment& syn, SequenceNumber sequence,
                        Nanoseconds answered_at);
  void drop(Handshake& handshake);
  std::uint16_t first_window(const TcpListener& listener) const;  // what a SYN-ACK offers: never scaled
  void send_syn_acknowledgment(const TcpListener& listener, const Flow& flow, const Segment& syn,
                               SequenceNumber sequence, std::uint32_t timestamp);
  // RFC 5961: who is there says so again.
  void challenge(const Handshake& handshake, Nanoseconds now);
  void reset(const Incoming& incoming);
  void send(const Flow& flow, const Segment& segment);
  static Segment make_segment(const Flow& flow, std::uint8_t flags, SequenceNumber sequence,
                              SequenceNumber acknowledgment);
  bool is_free(const Flow& flow, Nanoseconds now);
  void add(TcpConnection& connection, PortSharing sharing, std::uint64_t hash);

  // Numbers that strangers must not guess (RFC 6528, RFC 7323 7.1): a clock, and a place that only this flow has.
  SequenceNumber initial_sequence(const Flow& flow, Nanoseconds now) const;
  std::uint32_t timestamp_offset(const Flow& flow) const;

  static TcpRow row_of(TcpConnection& connection);
  static std::uint64_t waiting_in(const Binding& binding);

  PortTable ports_;
  HashTable<TcpConnection, TcpTableTag> connections_;  // each by a reference of the table's own
  HashTable<Handshake, HandshakeTag> handshakes_;
  TimeWaits time_waits_;
  SynCookies cookies_;
  IntrusiveList<TcpConnection, TcpPendingTag> pending_, without_room_;
  TcpListener* finishing_ = nullptr;  // whose connection is getting the ACK of its handshake
  const SipHashKey table_key_, number_key_;
  std::optional<Nanoseconds> last_cookie_;  // an ACK is looked at as one only for a while after it
  Nanoseconds reset_second_;
  std::uint32_t resets_ = 0;  // in that second
  TcpTableCounters table_counters_;
};

}  // namespace ingot::os::network
