// TcpConnection: one stream each way between two endpoints (RFC 9293), from the first SYN to the last ACK. It never
// sleeps: calls answer EAGAIN, and SocketEvents says when to come again. Who calls one holds a reference meanwhile.
//
//   segment_arrived --> acceptability, handshake, acknowledgment, data, FIN       (connection_input.cc)
//   send, timers, acknowledgments --> send_pending: what may go out, does          (connection_output.cc)
//   recovery of what was lost, timeouts, probes                        (connection_recovery.cc, connection_timers.cc)
//   what a program calls                                                           (connection.cc)
#pragma once

#include <cstdint>

#include "base/intrusive_list.h"
#include "os/file/transfer.h"
#include "os/memory/shared.h"
#include "os/network/port_table.h"
#include "os/network/tcp/congestion.h"
#include "os/network/tcp/host.h"
#include "os/network/tcp/receive_queue.h"
#include "os/network/tcp/round_trip.h"
#include "os/network/tcp/scoreboard.h"

namespace ingot::os::network {

// Linux's numbers, which TCP_INFO and /proc/net/tcp tell.
enum class TcpState : std::uint8_t {
  established = 1,
  syn_sent,
  syn_received,
  fin_wait_1,
  fin_wait_2,
  time_wait,
  closed,
  close_wait,
  last_ack,
  listen,
  closing
};

// What a program may set of a connection; those of a listener are inherited. 0 where nothing is said otherwise.
struct TcpOptions {
  std::uint32_t receive_buffer = 0, send_buffer = 0;  // 0: grows by need
  std::uint32_t not_sent_low_water = 0;
  std::uint32_t user_timeout_milliseconds = 0;
  std::uint16_t keep_alive_idle_seconds = 0, keep_alive_interval_seconds = 0;
  std::int16_t fin_wait_2_seconds = 0;  // below 0: not at all
  std::int32_t linger_seconds = -1;     // 0: close resets. Who waits otherwise does so above
  std::uint16_t maximum_segment = 0;
  std::uint8_t keep_alive_probes = 0;
  std::uint8_t syn_retries = 0;
  std::uint8_t hop_limit = 64, service = 0;
  CongestionControl congestion_control = CongestionControl::cubic;
  bool no_delay : 1 = false, cork : 1 = false, keep_alive : 1 = false;

  bool operator==(const TcpOptions&) const = default;
};

// TCP_INFO's meanings; times in microseconds.
struct TcpInfo {
  TcpState state = TcpState::closed;
  std::uint8_t congestion_state = 0;  // 0 open, 1 disorder, 3 recovery, 4 loss
  std::uint8_t retransmits = 0, probes = 0, backoff = 0;
  bool has_timestamps = false, has_selective = false, has_scaling = false, has_notification = false;
  std::uint8_t send_scale = 0, receive_scale = 0;
  std::uint32_t timeout = 0, acknowledgment_timeout = 0;
  std::uint32_t send_segment = 0, receive_segment = 0, offered_segment = 0;
  // Segments.
  std::uint32_t unacknowledged = 0, selectively_acknowledged = 0, lost = 0, retransmitted = 0;
  std::uint32_t total_retransmissions = 0, reordering = 3;
  std::uint32_t congestion_window = 0, congestion_threshold = 0;
  // Milliseconds since.
  std::uint32_t last_data_sent = 0, last_data_received = 0, last_acknowledgment_received = 0;
  std::uint32_t path_mtu = 0;
  std::uint32_t round_trip = 0, round_trip_variance = 0, least_round_trip = 0;
  std::uint32_t receive_space = 0, send_window = 0, receive_window = 0;
  std::uint32_t not_sent_bytes = 0;
};

class TcpConnection final : public Shared,
                            private NetworkTimer,
                            public HashLink<struct TcpTableTag>,     // of the table that finds it
                            public ListLink<struct TcpPendingTag> {  // wants send_pending
 public:
  // What a handshake starts from. Numbers that strangers must not guess are the caller's to choose.
  struct Start {
    Endpoint local, remote;
    Route route;
    SequenceNumber sequence;             // ours
    std::uint32_t timestamp_offset = 0;  // ours
    TcpOptions options;
    Nanoseconds answered_at{-1};  // when the SYN-ACK went out that resume is for, if it did so once
  };
  // Both are made closed; the table takes them in, then says how they begin.
  static Answer<Reference<TcpConnection>> create(TcpHost& host, const Start& start);
  TcpConnection(TcpHost& host, const Start& start);
  ~TcpConnection();

  // Sends the SYN.
  void connect(Nanoseconds now);
  // The peer's SYN was answered (a record, a cookie). Its ACK follows by segment_arrived, then TcpHost::established.
  void resume(const Segment& first, Nanoseconds now);

  const Endpoint& local() const { return local_; }
  const Endpoint& remote() const { return remote_; }
  TcpState state() const { return state_; }
  bool is_orphan() const { return is_orphan_; }
  TcpConnection* next_waiting = nullptr;  // behind it, for accept

  // The segment's ports and addresses are this connection's; its payload is what is left of `packet`.
  void segment_arrived(const Segment& segment, Received&& packet, Nanoseconds now);
  void refused(const Refusal& refusal);
  // Data and acknowledgments that have become possible.
  void send_pending(Nanoseconds now);

  // What a program calls.
  void set_events(SocketEvents* events) { events_ = events; }
  Answer<std::size_t> send(Transfer& from, bool more, Nanoseconds now);
  Answer<std::size_t> receive(Transfer& to, Reading reading, Nanoseconds now);
  Answer<void> shut_down(bool reading, bool writing, Nanoseconds now);
  // The socket is gone: what was sent still arrives, unless bytes were left unread. A second time it changes nothing.
  void close(Nanoseconds now);
  // Closed, and the peer has not acknowledged all of it yet.
  bool is_closing() const {
    return state_ == TcpState::fin_wait_1 || state_ == TcpState::closing || state_ == TcpState::last_ack;
  }
  // A reset, and nothing more. `error`: what the socket is told.
  void abort(Errno error, Nanoseconds now);
  std::uint32_t events() const;
  Errno take_error();  // Errno{}: none
  const TcpOptions& options() const { return options_; }
  void set_options(const TcpOptions& options, Nanoseconds now);
  // TCP_QUICKACK: what waits is acknowledged now, and the next ones at once.
  void acknowledge_quickly(Nanoseconds now);
  TcpInfo info(Nanoseconds now);
  std::uint64_t unread_bytes() const { return receive_.in_order().bytes(); }  // SIOCINQ
  std::uint32_t unacknowledged_bytes() const;                                 // SIOCOUTQ
  std::uint32_t unsent_bytes() const;                                         // SIOCOUTQNSD
  std::uint32_t receive_buffer() const { return receive_limit_; }
  std::uint32_t send_buffer() const;
  bool has_received_fin() const { return fin_received_; }

 private:
  friend class TcpInspector;  // of the tests
  enum class Recovery : std::uint8_t { none, fast, timeout };
  static constexpr std::uint8_t fin = TcpHeader::fin, syn = TcpHeader::syn, rst = TcpHeader::rst;
  static constexpr std::uint8_t ack = TcpHeader::ack, psh = TcpHeader::psh, ece = TcpHeader::ece, cwr = TcpHeader::cwr;
  static constexpr std::uint32_t least_segment = 64;
  // As much again as the buffer is for what holds its bytes, as Linux counts.
  static constexpr std::uint64_t held_slack = 16 << 10;
  static constexpr std::uint64_t held_for(std::uint32_t limit) { return std::uint64_t{limit} * 2 + held_slack; }

  // Input.
  void arrived_in_syn_sent(const Segment& segment, Received& packet, Nanoseconds now);
  void arrived_synchronized(Segment segment, Received& packet, Nanoseconds now);
  bool is_acceptable(const Segment& segment) const;
  bool is_from_before(const Segment& segment, Nanoseconds now) const;
  void refuse_unacceptable(const Segment& segment, Nanoseconds now);
  bool obey_reset(const Segment& segment, Nanoseconds now);
  void peer_has_reset();
  bool take_acknowledgment(const Segment& segment, Nanoseconds now);
  bool finish_handshake(const Segment& segment, Nanoseconds now);
  bool close_by_acknowledgment();
  void take_payload(const Segment& segment, Received& packet, Nanoseconds now);
  void trim(const Segment& segment, ByteChain& bytes);
  bool make_room(const Segment& segment, Received& packet);
  void keep(const Segment& segment, Received& packet, Nanoseconds now);
  void take_fin(Nanoseconds now);
  void offer_options();
  void take_syn_options(const Segment& segment);
  bool may_answer(Nanoseconds now);
  void answer_with_reset(const Segment& segment, Nanoseconds now);
  void remember_timestamp(const Segment& segment, Nanoseconds now);
  void challenge(Nanoseconds now);
  void leave_record();
  void become_established(Nanoseconds now);

  // Acknowledgments and what they say of losses.
  void acknowledged_up_to(SequenceNumber acknowledgment, const Segment& segment, Nanoseconds now);
  void update_window(const Segment& segment);
  std::uint32_t take_ranges(const Segment& segment);
  void measure(SequenceNumber acknowledgment, const Segment& segment, Nanoseconds now);
  void heed_notification(const Segment& segment);
  void note_duplicate(const Segment& segment, std::uint32_t news);
  void look_for_losses(Nanoseconds now);
  void look_for_lost_again(Nanoseconds now);
  void begin_fast_recovery(Nanoseconds now);
  void go_on_in_recovery(std::uint32_t bytes);
  void note_needless(SequenceRange range);
  bool undo_if_spurious(const Segment& segment);
  void undo();
  void all_is_lost();
  std::uint32_t in_flight();

  // Output.
  bool send_syn(Nanoseconds now);
  bool send_acknowledgment(Nanoseconds now);
  bool send_probe(Nanoseconds now);
  void send_reset(Nanoseconds now);
  bool retransmit(SequenceRange hole, Nanoseconds now);
  bool retransmit_lost(Nanoseconds now);
  bool send_new(Nanoseconds now);
  std::uint32_t next_chunk(std::uint32_t flight);
  bool may_send_partial(std::uint32_t bytes, std::uint32_t available) const;
  bool send_chunk(std::uint32_t bytes, Nanoseconds now);
  bool send_data(SequenceNumber from, std::uint32_t bytes, bool pushes, Nanoseconds now);
  bool transmit(Segment& segment, SegmentPayload payload = {});
  Segment header(std::uint8_t flags, Nanoseconds now);
  void add_ranges(Segment& segment);
  std::uint16_t offered_window();
  std::uint32_t free_receive_bytes() const;
  // What lies before it is taken: all that was promised, and what fits though the header's field could not say so.
  SequenceNumber receive_edge() const {
    return later(later(advertised_, receive_.next() + free_receive_bytes()), receive_.next());
  }
  Route route() const { return {link_, local_.address, next_hop_, route_mtu_, route_version_}; }
  Travel travel() const {
    return {.from = local_.address,
            .to = remote_.address,
            .protocol = Protocol::tcp,
            .hop_limit = options_.hop_limit,
            .service = options_.service};
  }
  void refresh_route();
  void compute_segment();
  std::uint16_t our_segment() const;
  void restart_after_idle(Nanoseconds now);

  // Timers.
  void expired(Nanoseconds now) override;
  void retransmission_due(Nanoseconds now);
  void syn_due(Nanoseconds now);
  void timeout_due(Nanoseconds now);
  void tail_due(Nanoseconds now);
  void probe_due(Nanoseconds now);
  void idle_due(Nanoseconds now);
  bool has_given_up(unsigned retries, Nanoseconds now) const;
  void arm_retransmission(Nanoseconds now);
  void arm_idle(Nanoseconds now);
  void set_timer();
  Nanoseconds timeout() const { return round_trip_.timeout(host_.settings, backoff_); }

  // Program.
  Answer<std::size_t> fill_send_chain(Transfer& from, std::uint64_t room);
  bool may_take() const;
  std::uint32_t write_chunk();
  bool is_writable() const;
  std::uint32_t low_water() const {
    return options_.not_sent_low_water != 0 ? options_.not_sent_low_water : host_.settings.not_sent_low_water;
  }
  void grow_receive_buffer(std::uint64_t read, Nanoseconds now);
  void update_peer_after_read(Nanoseconds now);
  void fail(Errno error);
  void finish(const TcpRemains* remains);
  void tell(std::uint32_t events) {
    if (events_ != nullptr) events_->changed(events);
  }
  bool is_handshaking() const { return state_ == TcpState::syn_sent || state_ == TcpState::syn_received; }
  // States in which the peer may still send data.
  bool is_receiving() const {
    return state_ == TcpState::established || state_ == TcpState::fin_wait_1 || state_ == TcpState::fin_wait_2;
  }
  bool fin_is_sent() const { return next_ > write_end_; }
  SequenceNumber chain_begin() const { return write_end_ - static_cast<std::uint32_t>(send_.bytes()); }
  // Payload of a full segment.
  std::uint32_t segment_bytes() const { return segment_limit_ - (has_timestamps_ ? 12 : 0); }
  std::uint32_t timestamp(Nanoseconds now) const { return timestamp_clock(now) + timestamp_offset_; }

  TcpHost& host_;
  SocketEvents* events_ = nullptr;
  Endpoint local_, remote_;
  // Of the route; its source is local_.
  std::uint32_t route_version_;
  Link* link_;
  IpAddress next_hop_;
  std::uint16_t route_mtu_;
  TcpOptions options_;

  ByteChain send_;  // from what is not acknowledged to write_end_
  ReceiveQueue receive_;
  Scoreboard scoreboard_;
  RoundTrip round_trip_;
  Congestion congestion_;

  // RFC 9293 3.3.1: SND.UNA, SND.NXT, SND.WND, SND.WL1, SND.WL2; ISS. next_ never goes back.
  SequenceNumber unacknowledged_, next_, window_sequence_, window_acknowledgment_, initial_;
  std::uint32_t send_window_ = 0, most_send_window_ = 0;
  SequenceNumber write_end_;  // behind the last byte that the program wrote
  SequenceNumber small_end_;  // behind the last segment that was not full (Minshall's form of Nagle's rule)

  SequenceNumber advertised_;         // right edge of the window: it was promised
  SequenceNumber last_acknowledged_;  // by us: Last.ACK.sent
  SequenceNumber fin_at_;             // where the peer's FIN stands, if it was seen
  SequenceRange duplicate_;           // to be told to the peer by the next acknowledgment
  std::uint32_t receive_limit_;
  std::uint32_t read_bytes_ = 0;  // since read_since_
  std::uint32_t read_since_ = 0;  // of the timestamps' clock, as all that is short of an hour or so

  std::uint32_t recent_timestamp_ = 0;  // TS.Recent
  std::uint32_t recent_at_ = 0;
  std::uint32_t timestamp_offset_;

  // What is not held by the peer before lost_until_ is lost; up to retransmitted_until_ it was sent again.
  SequenceNumber lost_until_, retransmitted_until_, recovery_point_;
  std::uint32_t undo_window_ = 0, undo_threshold_ = 0;  // 0: nothing to undo
  std::uint32_t undo_timestamp_ = 0;                    // of the first retransmission
  SequenceNumber timed_end_;                            // behind the segment whose answer is timed
  SequenceNumber sent_since_;                           // what was sent after the first missing one was sent again
  Nanoseconds timed_at_;                                // below 0: none is

  Nanoseconds retransmit_at_ = never, acknowledge_at_ = never, idle_at_ = never;
  std::uint32_t heard_at_ = 0, data_heard_at_ = 0, sent_at_ = 0;
  std::uint32_t stalled_since_ = 0;  // since when the peer does not answer, where is_stalled_
  std::uint32_t total_retransmissions_ = 0;

  std::uint16_t peer_segment_ = 0;   // what the peer said; 0: nothing
  std::uint16_t segment_limit_ = 0;  // of ours: without the headers, with TCP's options
  std::uint16_t path_mtu_ = 0;       // learned from refusals; 0: the route's
  std::uint16_t duplicates_ = 0;     // acknowledgments
  std::uint16_t undo_segments_ = 0;  // sent again, of which no duplicate was heard
  std::uint16_t answers_in_ = 0;     // the second that answers_ counts challenges and resets of
  Errno error_{}, soft_error_{};
  TcpState state_ = TcpState::closed;
  Recovery recovery_ = Recovery::none;
  std::uint8_t send_scale_ = 0, receive_scale_ = 0;
  std::uint8_t backoff_ = 0, probes_ = 0;
  std::uint8_t quick_left_ = 0, unacknowledged_segments_ = 0, answers_ = 0;
  bool has_timestamps_ : 1 = false, has_selective_ : 1 = false, has_scaling_ : 1 = false;
  bool is_passive_ : 1 = false, is_orphan_ : 1 = false;
  bool fin_wanted_ : 1 = false, fin_seen_ : 1 = false, fin_received_ : 1 = false, reading_ended_ : 1 = false;
  bool acknowledge_now_ : 1 = false, more_follows_ : 1 = false, push_ : 1 = false, window_limited_ : 1 = false;
  bool retransmit_first_ : 1 = false, is_stalled_ : 1 = false;
  // RFC 3168: agreed on; the peer is to be told of congestion; it is to be told that we heard of it.
  bool is_notified_ : 1 = false, echoes_congestion_ : 1 = false, has_reduced_ : 1 = false;
  bool probes_tail_ : 1 = false, tail_is_probed_ : 1 = false;  // RFC 8985 7: the timer is for that; it was done
  mutable bool room_wanted_ : 1 = false;

 public:
  PortSharing sharing;  // of its local port, as its listener's or its binding's was; here it costs no memory
};
static_assert(sizeof(TcpConnection) <= 576, "a class of the slabs; there may be tens of thousands");

}  // namespace ingot::os::network
