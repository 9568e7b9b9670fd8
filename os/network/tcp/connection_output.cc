// What may go out, does: first what was lost, then what is new, then a bare acknowledgment.
#include <algorithm>

#include "os/network/tcp/connection.h"

namespace ingot::os::network {

namespace {
// What a link takes at once: an IP packet's 64 KiB less its headers.
constexpr std::uint32_t most_at_once = 65535 - 40 - 60;
// Below, ranges of SACK would leave no room for the data that carry them.
constexpr std::uint32_t least_segment_with_ranges = 256;
}  // namespace

void TcpConnection::refresh_route() {
  const std::uint32_t version = host_.internet.route_version();
  if (version == route_version_) return;
  route_version_ = version;
  const Answer<Route> found = host_.internet.route(remote_.address, local_.address);
  if (!found.ok()) return;  // it may come back; until then the old one loses what it must
  link_ = found.value().link;
  next_hop_ = found.value().next_hop;
  route_mtu_ = found.value().mtu;
  compute_segment();
}

void TcpConnection::compute_segment() {
  const bool is_v4 = remote_.address.is_v4();
  const std::uint32_t headers = sizeof(TcpHeader) + (is_v4 ? sizeof(Ipv4Header) : sizeof(Ipv6Header));
  std::uint32_t limit = path_mtu_ != 0 ? std::min(path_mtu_, route_mtu_) : route_mtu_;
  limit = limit > headers ? limit - headers : 0;
  limit = std::min<std::uint32_t>(limit, peer_segment_ != 0 ? peer_segment_ : is_v4 ? 536 : 1220);
  if (options_.maximum_segment != 0) limit = std::min<std::uint32_t>(limit, options_.maximum_segment);
  segment_limit_ = static_cast<std::uint16_t>(std::max(limit, least_segment));
  congestion_.set_segment_bytes(segment_bytes());
}

void TcpConnection::restart_after_idle(Nanoseconds now) {
  const Nanoseconds pause = milliseconds(timestamp_clock(now) - sent_at_);
  if (!host_.settings.slow_start_after_idle || pause <= timeout()) return;
  congestion_.idle(pause, timeout(), host_.settings.initial_window * segment_bytes());
}

std::uint32_t TcpConnection::free_receive_bytes() const {
  const std::uint64_t used = receive_.in_order().bytes();
  const std::uint32_t limit =
      send_.blocks().is_scarce() ? std::min<std::uint32_t>(receive_limit_, 4 * segment_limit_) : receive_limit_;
  return used < limit ? static_cast<std::uint32_t>(limit - used) : 0;
}

// The window that the next acknowledgment shows. Its edge never goes back, and a window that is too small for a segment
// is not opened further (RFC 9293 3.8.6.2.2).
std::uint16_t TcpConnection::offered_window() {
  const std::uint32_t left = SequenceRange{receive_.next(), advertised_}.bytes();
  std::uint32_t window = free_receive_bytes();
  if (window < left || window < std::min<std::uint32_t>(receive_limit_ / 4, segment_limit_)) {
    // Rounded up, but for what would creep beyond the buffer by one unit of the scale after another.
    const std::uint32_t unit = (std::uint32_t{1} << receive_scale_) - 1;
    window = left <= window ? left + unit : left;
  }
  return static_cast<std::uint16_t>(std::min<std::uint32_t>(window >> receive_scale_, 65535));
}

Segment TcpConnection::header(std::uint8_t flags, Nanoseconds now) {
  Segment segment;
  segment.source = local_.port;
  segment.destination = remote_.port;
  segment.flags = echoes_congestion_ ? flags | ece : flags;
  segment.sequence = next_;
  segment.acknowledgment = receive_.next();
  segment.window = offered_window();
  segment.has_timestamp = has_timestamps_;
  segment.timestamp = timestamp(now);
  segment.echo = recent_timestamp_;
  return segment;
}

void TcpConnection::add_ranges(Segment& segment) {
  if (!has_selective_) return;
  const std::span<SequenceRange> room(segment.ranges.data(), has_timestamps_ ? 3 : 4);
  std::size_t count = 0;
  if (!duplicate_.is_empty()) room[count++] = duplicate_;
  count += receive_.early_ranges(room.subspan(count));
  segment.range_count = static_cast<std::uint8_t>(count);
}

bool TcpConnection::transmit(Segment& segment, SegmentPayload payload) {
  Travel way = travel();
  const bool is_new = segment.payload_bytes != 0 && segment.sequence >= next_;
  if (is_notified_ && is_new) {
    way.service = (way.service & 0xfc) | 2;  // ECT(0)
    if (has_reduced_) segment.flags |= cwr;
  }
  if (!send_segment(host_.internet, route(), way, segment, host_.settings.layout, payload)) {
    host_.send_when_room(*this);
    return false;
  }
  ++host_.counters.sent;
  if (segment.has(cwr)) has_reduced_ = false;
  if (!segment.has(ack) || segment.has(syn)) return true;
  last_acknowledged_ = receive_.next();
  advertised_ = later(advertised_, receive_.next() + (std::uint32_t{segment.window} << receive_scale_));
  acknowledge_now_ = false;
  unacknowledged_segments_ = 0;
  acknowledge_at_ = never;
  duplicate_ = {};
  return true;
}

// What the peer's segments may carry.
std::uint16_t TcpConnection::our_segment() const {
  const std::uint16_t fits = offered_segment(host_.settings, route());
  return options_.maximum_segment != 0 ? std::min(fits, options_.maximum_segment) : fits;
}

bool TcpConnection::send_syn(Nanoseconds now) {
  const bool answers = state_ == TcpState::syn_received;
  Segment segment = header(answers ? syn | ack : syn, now);
  segment.sequence = initial_;
  if (!answers) segment.acknowledgment = SequenceNumber();
  segment.window = static_cast<std::uint16_t>(std::min<std::uint32_t>(free_receive_bytes(), 65535));
  if (!answers && host_.settings.congestion_notification &&
      backoff_ <= host_.settings.congestion_notification_retries) {
    segment.flags |= ece | cwr;
  }
  const bool is_plain = host_.settings.drop_options_on_retransmission && backoff_ >= 3;
  segment.has_timestamp = has_timestamps_ && !is_plain;
  segment.echo = answers ? recent_timestamp_ : 0;
  segment.may_select = has_selective_ && !is_plain;
  if (has_scaling_ && !is_plain) segment.scale = receive_scale_;
  if (host_.settings.offers_segment) segment.maximum_segment = our_segment();
  return transmit(segment);
}

bool TcpConnection::send_acknowledgment(Nanoseconds now) {
  Segment segment = header(ack, now);
  add_ranges(segment);
  if (quick_left_ != 0) --quick_left_;
  acknowledge_now_ = true;  // until it is out
  return transmit(segment);
}

// Something old, so that the peer must answer (RFC 9293 3.8.4, 3.8.6.1).
bool TcpConnection::send_probe(Nanoseconds now) {
  Segment segment = header(ack, now);
  segment.sequence = unacknowledged_ - 1;
  return transmit(segment);
}

void TcpConnection::send_reset(Nanoseconds now) {
  Segment segment = header(rst | ack, now);
  segment.window = 0;
  segment.has_timestamp = has_timestamps_;
  ++host_.counters.sent_resets;
  send_segment(host_.internet, route(), travel(), segment, host_.settings.layout);
}

bool TcpConnection::send_data(SequenceNumber from, std::uint32_t bytes, bool pushes, Nanoseconds now) {
  Segment segment = header(ack, now);
  segment.sequence = from;
  if (segment_limit_ >= least_segment_with_ranges) add_ranges(segment);
  const std::uint32_t limit = segment_limit_ - option_bytes(segment);
  SegmentPayload payload{&send_, from.since(chain_begin()), 0};
  if (bytes > limit && link_cuts(route())) payload.cut = static_cast<std::uint16_t>(limit);
  if (bytes > limit && payload.cut == 0) bytes = limit;
  segment.payload_bytes = bytes;
  SequenceNumber end = from + bytes;
  if (bytes != 0 && (pushes || (end == write_end_ && !more_follows_))) segment.flags |= psh;
  if (end == write_end_ && fin_wanted_) {
    segment.flags |= fin;
    end += 1;
  }
  const bool answers = unacknowledged_segments_ != 0;
  if (!transmit(segment, payload)) return false;
  if (answers) quick_left_ = 0;  // a conversation: acknowledgments ride on what is said
  sent_at_ = timestamp_clock(now);
  if (end > next_) {
    // A tail's probe is counted from the last that was sent; where nothing was under way, no timeout ran.
    if (probes_tail_ || next_ == unacknowledged_) retransmit_at_ = never;
    next_ = end;
    if (timed_at_.count() < 0) timed_end_ = end, timed_at_ = now;
    if (bytes < segment_bytes()) small_end_ = end;
    return true;
  }
  ++host_.counters.retransmitted;
  ++total_retransmissions_;
  if (undo_segments_ != 65535) ++undo_segments_;
  retransmitted_until_ = later(retransmitted_until_, end);
  if (from == unacknowledged_) sent_since_ = next_;
  if (timed_end_ > from) timed_at_ = Nanoseconds(-1);
  return true;
}

bool TcpConnection::retransmit(SequenceRange hole, Nanoseconds now) {
  // The FIN is no byte of the chain.
  const std::uint32_t data = hole.begin < write_end_ ? write_end_.since(hole.begin) : 0;
  return send_data(hole.begin, std::min({hole.bytes(), segment_bytes(), data}), false, now);
}

// False: the link has no room.
bool TcpConnection::retransmit_lost(Nanoseconds now) {
  while (lost_until_ > unacknowledged_) {
    SequenceRange hole = scoreboard_.hole_within({later(retransmitted_until_, unacknowledged_), lost_until_});
    // With nothing new to say, what is missing before what the peer has is worth another try (RFC 6675 4, rule 3).
    if (hole.is_empty() && recovery_ == Recovery::fast && unsent_bytes() == 0 && !scoreboard_.is_empty()) {
      hole = scoreboard_.hole_within({later(retransmitted_until_, unacknowledged_), scoreboard_.end()});
    }
    if (hole.is_empty()) break;
    const std::uint32_t bytes = std::min(hole.bytes(), segment_bytes());
    if (!retransmit_first_ && in_flight() + bytes > congestion_.window()) return true;
    if (!retransmit(hole, now)) return false;
    retransmit_first_ = false;
  }
  retransmit_first_ = false;
  return true;
}

bool TcpConnection::may_send_partial(std::uint32_t bytes, std::uint32_t available) const {
  if (push_) return true;
  if (bytes < available) return bytes >= most_send_window_ / 2;  // the window will open further
  if (fin_wanted_) return true;
  if (options_.cork || more_follows_) return false;
  return options_.no_delay || small_end_ <= unacknowledged_;
}

// How much new data go next: full segments, or the rest. 0: it waits.
std::uint32_t TcpConnection::next_chunk(std::uint32_t flight) {
  const std::uint32_t available = unsent_bytes(), segment = segment_bytes();
  const std::uint32_t usable = SequenceRange{next_, unacknowledged_ + send_window_}.bytes();
  const std::uint32_t bytes = std::min(available, usable);
  const std::uint32_t room = congestion_.window() > flight ? congestion_.window() - flight : 0;
  if (bytes == 0 || (room < std::min(bytes, segment) && flight != 0)) return 0;
  if (bytes < segment) return may_send_partial(bytes, available) ? bytes : 0;
  return std::max(std::min({bytes, room, most_at_once, most_send_window_ / 2}) / segment, 1u) * segment;
}

// At once where the link cuts, else one after the other. The last of several is pushed: it ends what a receiver that
// joins segments can wait for.
bool TcpConnection::send_chunk(std::uint32_t bytes, Nanoseconds now) {
  const std::uint32_t segment = segment_bytes();
  const SequenceNumber end = next_ + bytes;
  const std::uint32_t each = link_cuts(route()) ? bytes : segment;
  do {
    const std::uint32_t part = std::min(end.since(next_), each);
    if (!send_data(next_, part, bytes > segment && next_ + part == end, now)) return false;
  } while (next_ < end);
  return true;
}

// False: the link has no room.
bool TcpConnection::send_new(Nanoseconds now) {
  if (unsent_bytes() == 0 && (!fin_wanted_ || fin_is_sent())) return true;
  std::uint32_t flight = in_flight();
  while (!fin_is_sent()) {
    const std::uint32_t bytes = next_chunk(flight);
    if (bytes == 0 && (!fin_wanted_ || next_ != write_end_)) break;
    const SequenceNumber before = next_;
    if (!send_chunk(bytes, now)) return false;
    flight += next_.since(before);
  }
  window_limited_ = flight + segment_bytes() > congestion_.window();
  return true;
}

void TcpConnection::send_pending(Nanoseconds now) {
  if (state_ == TcpState::closed || is_handshaking()) return;
  refresh_route();
  if (!retransmit_lost(now) || !send_new(now)) {
    arm_retransmission(now);
    return set_timer();
  }
  push_ = false;
  const bool at_once = acknowledge_now_ || unacknowledged_segments_ >= 2 || quick_left_ != 0;
  if (acknowledge_now_ || (unacknowledged_segments_ != 0 && at_once)) {
    send_acknowledgment(now);
  } else if (unacknowledged_segments_ != 0 && acknowledge_at_ == never) {
    acknowledge_at_ = now + host_.settings.delayed_acknowledgment;
  }
  arm_retransmission(now);
  set_timer();
}

}  // namespace ingot::os::network
