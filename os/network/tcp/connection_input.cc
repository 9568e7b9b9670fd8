// A segment arrives: RFC 9293 3.10.7, with the checks of RFC 5961 and RFC 7323.
#include <algorithm>

#include "os/file/poll.h"
#include "os/network/tcp/connection.h"

namespace ingot::os::network {

namespace {
// TS.Recent older than this says nothing any more (RFC 7323 5.5).
constexpr std::uint32_t timestamp_days = 24u * 24 * 3600 * 1000;
}  // namespace

void TcpConnection::segment_arrived(const Segment& segment, Received&& packet, Nanoseconds now) {
  if (state_ == TcpState::closed) return;
  if (state_ == TcpState::syn_sent) {
    arrived_in_syn_sent(segment, packet, now);
  } else {
    arrived_synchronized(segment, packet, now);
  }
  if (state_ == TcpState::closed) return;
  set_timer();
  host_.send_later(*this);
}

void TcpConnection::take_syn_options(const Segment& segment) {
  receive_.set_next(segment.sequence + 1);
  window_sequence_ = segment.sequence;
  window_acknowledgment_ = segment.acknowledgment;
  peer_segment_ = segment.maximum_segment;
  has_selective_ = has_selective_ && segment.may_select;
  has_timestamps_ = has_timestamps_ && segment.has_timestamp;
  has_scaling_ = has_scaling_ && segment.scale.has_value();
  send_scale_ = has_scaling_ ? *segment.scale : 0;
  if (!has_scaling_) receive_scale_ = 0;
  recent_timestamp_ = segment.timestamp;
  send_window_ = most_send_window_ = segment.window;  // a SYN's is never scaled
  compute_segment();
  if (host_.settings.whole_segments_in_buffer && segment_limit_ != 0) {
    receive_limit_ = (receive_limit_ + segment_limit_ - 1) / segment_limit_ * segment_limit_;
  }
}

// It acknowledges what was never sent: something of an older connection.
void TcpConnection::answer_with_reset(const Segment& segment, Nanoseconds now) {
  if (!may_answer(now)) return;
  ++host_.counters.sent_resets;
  send_segment(host_.internet, route(), travel(), reset_for(segment), host_.settings.layout);
}

void TcpConnection::arrived_in_syn_sent(const Segment& segment, Received& packet, Nanoseconds now) {
  const bool acknowledges = segment.has(ack);
  if (acknowledges && segment.acknowledgment != next_) {
    if (!segment.has(rst)) answer_with_reset(segment, now);
    return;
  }
  if (segment.has(rst)) {
    if (acknowledges) fail(Errno::econnrefused);
    return;
  }
  if (!segment.has(syn) || (segment.has(fin) && host_.settings.drop_syn_fin)) return;
  take_syn_options(segment);
  recent_at_ = heard_at_ = data_heard_at_ = timestamp_clock(now);
  advertised_ = receive_.next() + std::min<std::uint32_t>(free_receive_bytes(), 65535);
  last_acknowledged_ = receive_.next();
  if (!acknowledges) {  // both sides open at once
    state_ = TcpState::syn_received;
    backoff_ = 0;
    retransmit_at_ = now + timeout();
    send_syn(now);
    return;
  }
  is_notified_ = host_.settings.congestion_notification && segment.has(ece) && !segment.has(cwr);
  measure(next_, segment, now);
  unacknowledged_ = next_;
  become_established(now);
  acknowledge_now_ = true;
  if (segment.payload_bytes != 0 || segment.has(fin)) {
    Segment rest = segment;
    rest.flags &= static_cast<std::uint8_t>(~syn);
    rest.sequence += 1;
    take_payload(rest, packet, now);
  }
}

void TcpConnection::become_established(Nanoseconds now) {
  state_ = fin_wanted_ ? TcpState::fin_wait_1 : TcpState::established;
  // RFC 6928, and RFC 5681 3.1: one segment where the SYN was lost.
  const std::uint32_t segments = total_retransmissions_ != 0 ? 1 : host_.settings.initial_window;
  congestion_.begin(options_.congestion_control, segments * segment_bytes(), segment_bytes());
  lost_until_ = retransmitted_until_ = recovery_point_ = small_end_ = unacknowledged_;
  backoff_ = 0;
  is_stalled_ = false;
  retransmit_at_ = never;
  read_since_ = sent_at_ = timestamp_clock(now);
  soft_error_ = {};
  arm_idle(now);
  if (is_passive_) host_.established(*this);
  tell(events());
}

bool TcpConnection::is_acceptable(const Segment& segment) const {
  const std::uint32_t window = receive_edge().since(receive_.next());
  // What stands at the edge of a closed window may carry an acknowledgment: its data are cut off.
  if (segment.sequence == receive_.next()) return true;
  const auto is_inside = [&](SequenceNumber place) {
    return place >= receive_.next() && place < receive_.next() + window;
  };
  return is_inside(segment.sequence) || (segment.length() != 0 && is_inside(segment.end() - 1));
}

// RFC 7323 5: it is older than what came before it.
bool TcpConnection::is_from_before(const Segment& segment, Nanoseconds now) const {
  return has_timestamps_ && segment.has_timestamp && !segment.has(rst) &&
         SequenceNumber(segment.timestamp) < SequenceNumber(recent_timestamp_) &&
         timestamp_clock(now) - recent_at_ < timestamp_days;
}

// Each connection has a count of its own: from a common one a stranger would learn by a connection of his whether he
// had guessed another's numbers (CVE-2016-5696).
bool TcpConnection::may_answer(Nanoseconds now) {
  const auto second = static_cast<std::uint16_t>(timestamp_clock(now) / 1000);
  if (std::exchange(answers_in_, second) != second) answers_ = 0;
  if (answers_ >= host_.settings.answers_per_second) return false;
  ++answers_;
  return true;
}

void TcpConnection::challenge(Nanoseconds now) {
  if (!may_answer(now)) return;
  ++host_.counters.challenges;
  send_acknowledgment(now);
}

void TcpConnection::refuse_unacceptable(const Segment& segment, Nanoseconds now) {
  if (segment.has(rst)) return;
  if (state_ == TcpState::syn_received && segment.has(syn) && segment.sequence + 1 == receive_.next()) {
    send_syn(now);  // our SYN-ACK was lost
    return;
  }
  if (segment.has(syn)) return challenge(now);
  if (segment.payload_bytes == 0 && !segment.has(fin)) return challenge(now);
  if (segment.payload_bytes != 0 && segment.sequence < receive_.next()) {
    duplicate_ = {segment.sequence, earlier(segment.sequence + segment.payload_bytes, receive_.next())};
    ++host_.counters.duplicates_reported;
  }
  send_acknowledgment(now);
}

// RFC 5961 3.2. Whether the segment is done with.
bool TcpConnection::obey_reset(const Segment& segment, Nanoseconds now) {
  if (!segment.has(rst)) return false;
  if (segment.sequence != receive_.next() && !host_.settings.insecure_reset) {
    challenge(now);
    return true;
  }
  peer_has_reset();
  return true;
}

void TcpConnection::peer_has_reset() {
  ++host_.counters.established_resets;
  fail(state_ == TcpState::syn_received ? Errno::econnrefused : Errno::econnreset);
}

void TcpConnection::arrived_synchronized(Segment segment, Received& packet, Nanoseconds now) {
  if (is_from_before(segment, now)) {
    ++host_.counters.old_timestamps;
    return refuse_unacceptable(segment, now);
  }
  // The other's SYN-ACK where both opened at once: its SYN is known already.
  if (state_ == TcpState::syn_received && !is_passive_ && segment.has(syn) && segment.has(ack) &&
      segment.sequence + 1 == receive_.next() && segment.acknowledgment == next_) {
    segment.sequence += 1;
    segment.flags &= static_cast<std::uint8_t>(~syn);
    segment.window = static_cast<std::uint16_t>(segment.window >> send_scale_);  // RFC 7323 2.2: a SYN's is not scaled
    acknowledge_now_ = true;
  }
  if (!is_acceptable(segment)) return refuse_unacceptable(segment, now);
  if (obey_reset(segment, now)) return;
  if (segment.has(syn)) {
    if (!host_.settings.insecure_syn) return challenge(now);
    send_reset(now);
    return fail(Errno::econnreset);
  }
  if (!segment.has(ack)) return;
  if (state_ == TcpState::syn_received && !finish_handshake(segment, now)) return;
  if (!take_acknowledgment(segment, now)) return;
  remember_timestamp(segment, now);
  heard_at_ = timestamp_clock(now);
  const bool was_waiting = state_ == TcpState::fin_wait_2;
  if (!close_by_acknowledgment()) return;
  if (is_notified_) heed_notification(segment);
  if (segment.payload_bytes != 0 || segment.has(fin)) take_payload(segment, packet, now);
  if (is_orphan_ && state_ == TcpState::fin_wait_2 && !was_waiting) arm_idle(now);
}

bool TcpConnection::finish_handshake(const Segment& segment, Nanoseconds now) {
  if (segment.acknowledgment != next_) {
    answer_with_reset(segment, now);
    return false;
  }
  measure(next_, segment, now);
  unacknowledged_ = next_;
  window_sequence_ = segment.sequence;
  window_acknowledgment_ = segment.acknowledgment;
  send_window_ = std::uint32_t{segment.window} << send_scale_;
  most_send_window_ = std::max(most_send_window_, send_window_);
  become_established(now);
  return state_ != TcpState::closed;
}

// RFC 7323 4.3: of segments that begin at or before what was acknowledged last.
void TcpConnection::remember_timestamp(const Segment& segment, Nanoseconds now) {
  if (!has_timestamps_ || !segment.has_timestamp || segment.sequence > last_acknowledged_) return;
  const bool is_stale = timestamp_clock(now) - recent_at_ >= timestamp_days;
  if (SequenceNumber(segment.timestamp) < SequenceNumber(recent_timestamp_) && !is_stale) return;
  recent_timestamp_ = segment.timestamp;
  recent_at_ = timestamp_clock(now);
}

// What an acknowledgment of our FIN means. False: the connection is no more.
bool TcpConnection::close_by_acknowledgment() {
  if (!fin_is_sent() || unacknowledged_ != next_) return true;
  switch (state_) {
    case TcpState::fin_wait_1:
      state_ = TcpState::fin_wait_2;
      tell(events());
      return true;
    case TcpState::closing: leave_record(); return false;
    case TcpState::last_ack: finish(nullptr); return false;
    default: return true;
  }
}

void TcpConnection::leave_record() {
  const TcpRemains remains{.local = local_,
                           .remote = remote_,
                           .send_next = next_,
                           .receive_next = receive_.next(),
                           .receive_window = SequenceRange{receive_.next(), advertised_}.bytes(),
                           .receive_scale = receive_scale_,
                           .has_timestamps = has_timestamps_,
                           .awaits_fin = !fin_received_,
                           .recent_timestamp = recent_timestamp_,
                           .timestamp_offset = timestamp_offset_};
  finish(&remains);
}

// Cuts off what lies beyond the window or behind the FIN, and notes where that is.
void TcpConnection::trim(const Segment& segment, ByteChain& bytes) {
  const SequenceNumber edge = receive_edge();
  const SequenceNumber limit = fin_seen_ ? earlier(fin_at_, edge) : edge;
  const SequenceNumber end = segment.sequence + segment.payload_bytes;
  if (end > limit) {
    bytes.drop_back(std::min<std::uint64_t>(bytes.bytes(), end.since(limit)));
    acknowledge_now_ = true;
  } else if (segment.has(fin) && !fin_seen_) {
    fin_seen_ = true;
    fin_at_ = end;
  }
}

// Packets that are small for the blocks they lie in must not cost more memory than the buffer stands for. Where memory
// is scarce in all, what came early goes first; where it is full, of a packet that the device joined one segment is
// taken. What comes from this machine lies in its sender's queue, which would never shrink if nobody took it.
bool TcpConnection::make_room(const Segment& segment, Received& packet) {
  HeapBlocks& blocks = send_.blocks();
  ByteChain& bytes = packet.bytes;
  if (blocks.is_full()) {
    receive_.drop_early();
    const std::uint64_t most = SequenceRange{segment.sequence, receive_.next()}.bytes() + packet.segment_bytes;
    if (packet.segment_bytes != 0 && bytes.bytes() > most) bytes.drop_back(bytes.bytes() - most);
  }
  const std::uint64_t held = bytes.held_bytes();
  const bool is_early = segment.sequence > receive_.next();
  const bool is_refused = is_early ? blocks.is_scarce() : blocks.is_full() && !receive_.in_order().is_empty();
  if (is_refused || !(blocks.may_hold(held) || host_.internet.is_ours(remote_.address))) {
    ++host_.counters.no_memory;
    acknowledge_now_ = true;
    return false;
  }
  const std::uint64_t most = held_for(receive_limit_);
  if (receive_.held_bytes() + held <= most) return true;
  ++host_.counters.compacted;
  if (receive_.compact(most) && receive_.held_bytes() + held <= most + held_slack) return true;
  ++host_.counters.no_memory;
  return false;
}

void TcpConnection::keep(const Segment& segment, Received& packet, Nanoseconds now) {
  const SequenceNumber before = receive_.next();
  const bool had_early = receive_.has_early();
  const std::uint64_t bytes = packet.bytes.bytes();
  data_heard_at_ = timestamp_clock(now);
  const ReceiveQueue::Taken taken = receive_.take(segment.sequence, std::move(packet.bytes));
  if (!taken.duplicate.is_empty()) {
    duplicate_ = taken.duplicate;
    ++host_.counters.duplicates_reported;
  }
  if (!taken.is_kept) ++host_.counters.out_of_order_dropped;
  const std::uint64_t segments = packet.segment_bytes == 0 ? 1 : bytes / packet.segment_bytes + 1;
  unacknowledged_segments_ =
      static_cast<std::uint8_t>(std::min<std::uint64_t>(unacknowledged_segments_ + segments, 255));
  if (had_early || !duplicate_.is_empty()) acknowledge_now_ = true;
  if (receive_.next() != before) return;
  // Two segments that came out of order are two reasons to believe in a loss: each is told at once.
  ++host_.counters.out_of_order;
  acknowledge_now_ = true;
  send_acknowledgment(now);
}

void TcpConnection::take_payload(const Segment& segment, Received& packet, Nanoseconds now) {
  if (!is_receiving() || fin_received_) {
    acknowledge_now_ = true;
    return;
  }
  trim(segment, packet.bytes);
  const SequenceNumber before = receive_.next();
  if (!packet.bytes.is_empty()) {
    // Nobody will ever read it (RFC 1122 4.2.2.13).
    if (is_orphan_ && segment.sequence + segment.payload_bytes > before) return abort(Errno{}, now);
    if (!make_room(segment, packet)) return;
    keep(segment, packet, now);
  }
  if (fin_seen_ && receive_.next() >= fin_at_) return take_fin(now);
  if (segment.has(fin)) acknowledge_now_ = true;
  if (receive_.next() != before) tell(poll_event::readable | poll_event::read_normal);
}

void TcpConnection::take_fin(Nanoseconds now) {
  fin_received_ = true;
  receive_.set_next(receive_.next() + 1);
  acknowledge_now_ = true;
  switch (state_) {
    case TcpState::established: state_ = TcpState::close_wait; break;
    case TcpState::fin_wait_1:
      state_ = TcpState::closing;
      // The peer has not heard of our FIN, which went the other way: the acknowledgment of its own repeats it.
      if (fin_is_sent()) send_data(write_end_, 0, false, now);
      break;
    default:
      send_acknowledgment(now);
      leave_record();
      return;
  }
  arm_idle(now);
  tell(events());
}

}  // namespace ingot::os::network
