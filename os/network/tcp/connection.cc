// What a program does with a connection.
#include "os/network/tcp/connection.h"

#include <algorithm>

#include "os/file/poll.h"

namespace ingot::os::network {

Answer<Reference<TcpConnection>> TcpConnection::create(TcpHost& host, const Start& start) {
  if (host.machine.blocks().is_full()) return Errno::enomem;
  return TRY(make_reference<TcpConnection>(host.machine.blocks().heap(), host, start));
}

TcpConnection::TcpConnection(TcpHost& host, const Start& start)
    : host_(host),
      local_(start.local),
      remote_(start.remote),
      route_version_(start.route.version),
      link_(start.route.link),
      next_hop_(start.route.next_hop),
      route_mtu_(start.route.mtu),
      options_(start.options),
      send_(host.machine.blocks()),
      receive_(host.machine.blocks()),
      unacknowledged_(start.sequence),
      next_(start.sequence),
      initial_(start.sequence),
      write_end_(start.sequence + 1),
      small_end_(start.sequence),
      receive_limit_(options_.receive_buffer != 0 ? options_.receive_buffer : host.settings.receive_buffer),
      timestamp_offset_(start.timestamp_offset),
      timed_end_(start.sequence + 1),
      timed_at_(start.answered_at),
      quick_left_(host.settings.quick_acknowledgments) {
  compute_segment();
}

TcpConnection::~TcpConnection() {
  host_.timers.clear(*this);
  scoreboard_.clear(host_.machine.blocks());
}

// What a SYN offers; take_syn_options leaves what is agreed on.
void TcpConnection::offer_options() {
  has_timestamps_ = host_.settings.timestamps;
  has_selective_ = host_.settings.selective_acknowledgments;
  has_scaling_ = host_.settings.window_scaling;
  receive_scale_ = has_scaling_ ? receive_scale(host_.settings) : 0;
}

void TcpConnection::connect(Nanoseconds now) {
  ++host_.counters.active_opens;
  state_ = TcpState::syn_sent;
  offer_options();
  heard_at_ = timestamp_clock(now);
  stalled_since_ = heard_at_;
  next_ = initial_ + 1;
  timed_end_ = next_;
  timed_at_ = now;
  retransmit_at_ = now + timeout();
  send_syn(now);
  set_timer();
}

void TcpConnection::resume(const Segment& first, Nanoseconds now) {
  ++host_.counters.passive_opens;
  state_ = TcpState::syn_received;
  is_passive_ = true;
  heard_at_ = data_heard_at_ = recent_at_ = stalled_since_ = timestamp_clock(now);
  offer_options();
  take_syn_options(first);
  next_ = initial_ + 1;
  last_acknowledged_ = receive_.next();
  advertised_ = receive_.next() + std::min<std::uint32_t>(free_receive_bytes(), 65535);
}

// Whether a program may write another chunk.
bool TcpConnection::may_take() const {
  if (send_.is_empty()) return true;
  const std::uint32_t limit = send_buffer();
  return send_.bytes() < limit && send_.held_bytes() < held_for(limit) && unsent_bytes() < low_water() &&
         !send_.blocks().is_full();
}

// What is written at a time, before it is looked at what may be sent: what the congestion window has room for, or half
// of the peer's.
std::uint32_t TcpConnection::write_chunk() {
  constexpr std::uint32_t most_chunk = 64 << 10;
  const std::uint32_t segment = segment_bytes(), flight = in_flight();
  if (send_.blocks().is_full()) return segment;
  std::uint32_t chunk = most_send_window_ / 2;
  if (unsent_bytes() == 0 && congestion_.window() > flight) chunk = congestion_.window() - flight;
  return std::max(std::min({chunk, most_chunk, send_buffer()}) / segment, 1u) * segment;
}

std::uint32_t TcpConnection::send_buffer() const {
  if (options_.send_buffer != 0) return options_.send_buffer;
  if (send_.blocks().is_scarce()) return host_.settings.send_buffer;
  // Three times what may be under way: while that waits for its acknowledgment as much is ready, and more is written.
  const std::uint32_t wanted = std::min(congestion_.window(), host_.settings.most_send_buffer / 3) * 3;
  return std::max(host_.settings.send_buffer, wanted);
}

std::uint32_t TcpConnection::unsent_bytes() const {
  return fin_is_sent() ? 0 : write_end_.since(later(next_, initial_ + 1));
}

std::uint32_t TcpConnection::unacknowledged_bytes() const { return static_cast<std::uint32_t>(send_.bytes()); }

bool TcpConnection::is_writable() const {
  // A third free at least: a writer that is woken for every acknowledgment would write crumbs.
  const bool is = may_take() && send_.bytes() <= send_buffer() / 3 * std::uint64_t{2};
  if (!is) room_wanted_ = true;
  return is;
}

Answer<std::size_t> TcpConnection::fill_send_chain(Transfer& from, std::uint64_t room) {
  constexpr std::uint64_t least_block = 1 << 10, most_block = 16 << 10;
  std::size_t filled = 0;
  while (filled < room && from.left() != 0) {
    std::span<std::byte> spare = send_.spare_room();
    Reference<Block> block;
    if (spare.empty()) {
      const std::uint64_t bytes = std::clamp(std::min(room - filled, from.left()), least_block, most_block);
      Answer<Reference<Block>> made = host_.machine.blocks().create(bytes);
      if (!made.ok()) return filled != 0 ? Answer<std::size_t>(filled) : made.error();
      block = std::move(made).value();
      spare = block->bytes();
    }
    spare = spare.first(std::min<std::uint64_t>(spare.size(), room - filled));
    const Answer<std::size_t> moved = from.take(spare);
    if (!moved.ok()) return filled != 0 ? Answer<std::size_t>(filled) : moved.error();
    if (moved.value() == 0) break;
    if (!block) send_.grow_last(moved.value());
    if (block && !send_.add(std::move(block), spare.first(moved.value())).ok()) {
      return filled != 0 ? Answer<std::size_t>(filled) : Errno::enomem;
    }
    filled += moved.value();
    write_end_ += static_cast<std::uint32_t>(moved.value());
  }
  return filled;
}

Answer<std::size_t> TcpConnection::send(Transfer& from, bool more, Nanoseconds now) {
  if (const Errno error = take_error(); error != Errno{}) return error;
  if (is_handshaking()) return Errno::eagain;
  if (fin_wanted_ || state_ == TcpState::closed) return Errno::epipe;
  if (from.left() == 0) return std::size_t{0};
  if (send_.is_empty()) restart_after_idle(now);
  std::size_t taken = 0;
  while (from.left() != 0 && may_take()) {
    const std::uint32_t chunk = write_chunk();
    // Of a transfer in parts, what is short of a chunk comes with the next part.
    if (taken != 0 && from.left() < chunk && from.holds_back()) break;
    const Answer<std::size_t> filled = fill_send_chain(from, chunk);
    if (!filled.ok() && taken == 0) return filled.error();
    if (!filled.ok() || filled.value() == 0) break;
    taken += filled.value();
    more_follows_ = more || from.left() != 0;
    send_pending(now);
  }
  if (from.left() != 0) room_wanted_ = true;
  if (taken == 0) return Errno::eagain;
  if (more_follows_ != more) {
    more_follows_ = more;
    send_pending(now);
  }
  return taken;
}

Answer<std::size_t> TcpConnection::receive(Transfer& to, Reading reading, Nanoseconds now) {
  ByteChain& chain = receive_.in_order();
  if (chain.is_empty()) {
    if (const Errno error = take_error(); error != Errno{}) return error;
    if (fin_received_ || reading_ended_ || state_ == TcpState::closed) return std::size_t{0};
    return Errno::eagain;
  }
  const std::size_t given = TRY(chain.give(to, 0, chain.bytes()));
  if (reading == Reading::looks) return given;
  chain.drop_front(given);
  grow_receive_buffer(given, now);
  update_peer_after_read(now);
  return given;
}

// A program that reads half a buffer in a round trip would be held back by one of that size.
void TcpConnection::grow_receive_buffer(std::uint64_t read, Nanoseconds now) {
  if (options_.receive_buffer != 0 || !is_receiving() || send_.blocks().is_scarce()) return;
  const std::uint32_t clock = timestamp_clock(now);
  read_bytes_ =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(read_bytes_ + read, host_.settings.most_receive_buffer));
  const std::uint32_t round = std::max(timestamp_clock(round_trip_.smoothed()), 1u);
  if (clock - read_since_ < round) return;
  const std::uint64_t wanted = std::uint64_t{read_bytes_} * 2 + 16 * segment_limit_;
  if (clock - read_since_ < 8 * round && wanted > receive_limit_) {
    receive_limit_ = static_cast<std::uint32_t>(std::min<std::uint64_t>(wanted, host_.settings.most_receive_buffer));
  }
  read_since_ = clock;
  read_bytes_ = 0;
}

void TcpConnection::update_peer_after_read(Nanoseconds now) {
  if (!is_receiving()) return;
  const std::uint32_t left = SequenceRange{receive_.next(), advertised_}.bytes();
  std::uint32_t free = free_receive_bytes();
  if (!has_scaling_) free = std::min<std::uint32_t>(free, 65535);
  if (free < left + std::min<std::uint32_t>(receive_limit_ / 2, segment_limit_) || free / 2 < left) return;
  acknowledge_now_ = true;
  send_pending(now);
}

Answer<void> TcpConnection::shut_down(bool reading, bool writing, Nanoseconds now) {
  if (state_ == TcpState::closed) return Errno::enotconn;
  if (reading) reading_ended_ = true;
  if (state_ == TcpState::syn_sent) {
    finish(nullptr);
    return {};
  }
  if (writing && !fin_wanted_) {
    fin_wanted_ = true;
    if (state_ == TcpState::established) state_ = TcpState::fin_wait_1;
    if (state_ == TcpState::close_wait) state_ = TcpState::last_ack;
    send_pending(now);
  }
  tell(events());
  return {};
}

void TcpConnection::close(Nanoseconds now) {
  const Reference<TcpConnection> self(*this);
  events_ = nullptr;
  if (state_ == TcpState::closed || is_orphan_) return;
  const bool loses_data = !receive_.in_order().is_empty();
  if (state_ == TcpState::syn_sent) return finish(nullptr);
  const bool is_costly = unsent_bytes() != 0 && send_.blocks().is_full();
  const bool too_many = host_.orphans >= host_.settings.most_orphans || is_costly;
  if (options_.linger_seconds == 0 || loses_data || too_many) {
    if (too_many) ++host_.counters.orphans_dropped;
    return abort(Errno{}, now);
  }
  is_orphan_ = true;
  ++host_.orphans;
  idle_at_ = now + host_.settings.orphan_time;
  const bool was_waiting = state_ == TcpState::fin_wait_2;
  (void)shut_down(true, true, now);
  if (was_waiting) arm_idle(now);
  if (state_ != TcpState::closed) set_timer();
}

void TcpConnection::abort(Errno error, Nanoseconds now) {
  if (state_ == TcpState::closed) return;
  if (state_ != TcpState::syn_sent) send_reset(now);
  fail(error);
}

void TcpConnection::fail(Errno error) {
  if (error != Errno{}) error_ = error;
  receive_.drop_early();
  finish(nullptr);
}

// The last thing that happens to a connection in its table; the socket may still read what came.
void TcpConnection::finish(const TcpRemains* remains) {
  const Reference<TcpConnection> self(*this);
  if (is_handshaking()) ++host_.counters.failed_attempts;
  state_ = TcpState::closed;
  retransmit_at_ = acknowledge_at_ = idle_at_ = never;
  host_.timers.clear(*this);
  send_.clear();
  scoreboard_.clear(host_.machine.blocks());
  receive_.drop_early();
  write_end_ = next_ = unacknowledged_;
  fin_wanted_ = true;
  if (is_orphan_) --host_.orphans;
  is_orphan_ = false;
  host_.closed(*this, remains);
  tell(events());
}

std::uint32_t TcpConnection::events() const {
  namespace event = poll_event;
  std::uint32_t events = error_ != Errno{} ? event::error : 0;
  const bool ended = fin_received_ || reading_ended_ || state_ == TcpState::closed;
  if (ended) events |= event::readable | event::read_normal | event::peer_closed;
  if (state_ == TcpState::closed || (ended && fin_wanted_)) events |= event::hang_up;
  if (is_handshaking()) return events;
  if (!receive_.in_order().is_empty()) events |= event::readable | event::read_normal;
  if (fin_wanted_ || is_writable()) events |= event::writable | event::write_normal;
  return events;
}

Errno TcpConnection::take_error() { return std::exchange(error_, Errno{}); }

void TcpConnection::set_options(const TcpOptions& options, Nanoseconds now) {
  const bool pushes = options.no_delay || (options_.cork && !options.cork);
  const bool limits_segment = options.maximum_segment != options_.maximum_segment;
  options_ = options;
  if (options.receive_buffer != 0) receive_limit_ = options.receive_buffer;
  if (options.congestion_control != congestion_.control()) congestion_.choose(options.congestion_control);
  if (limits_segment) compute_segment();
  if (state_ == TcpState::closed || is_handshaking()) return;
  if (pushes) {
    push_ = true;
    send_pending(now);
  }
  arm_idle(now);
  set_timer();
}

void TcpConnection::acknowledge_quickly(Nanoseconds now) {
  quick_left_ = std::max<std::uint8_t>(quick_left_, 16);
  if (unacknowledged_segments_ == 0) return;
  acknowledge_now_ = true;
  send_pending(now);
}

TcpInfo TcpConnection::info(Nanoseconds now) {
  const std::uint32_t segment = std::max(segment_bytes(), 1u), clock = timestamp_clock(now);
  const auto microseconds = [](Nanoseconds time) { return static_cast<std::uint32_t>(time.count() / 1000); };
  const auto segments = [&](std::uint32_t bytes) { return (bytes + segment - 1) / segment; };
  TcpInfo info;
  info.state = state_;
  info.congestion_state = recovery_ == Recovery::timeout ? 4 : recovery_ == Recovery::fast ? 3 : 0;
  if (recovery_ == Recovery::none && (duplicates_ != 0 || !scoreboard_.is_empty())) info.congestion_state = 1;
  info.retransmits = recovery_ == Recovery::timeout ? backoff_ : 0;
  info.probes = probes_;
  info.backoff = backoff_;
  info.has_timestamps = has_timestamps_;
  info.has_selective = has_selective_;
  info.has_scaling = has_scaling_;
  info.has_notification = is_notified_;
  info.send_scale = send_scale_;
  info.receive_scale = receive_scale_;
  info.timeout = microseconds(timeout());
  info.acknowledgment_timeout = microseconds(host_.settings.delayed_acknowledgment);
  info.send_segment = segment_bytes();
  info.receive_segment = info.offered_segment = our_segment();
  info.unacknowledged = segments(next_.since(unacknowledged_));
  info.selectively_acknowledged = has_selective_ ? segments(scoreboard_.bytes()) : duplicates_;
  const SequenceRange lost{unacknowledged_, lost_until_}, again{unacknowledged_, retransmitted_until_};
  info.lost = segments(lost.bytes() - scoreboard_.bytes_within(lost));
  info.retransmitted = segments(again.bytes() - scoreboard_.bytes_within(again));
  info.total_retransmissions = total_retransmissions_;
  info.congestion_window = congestion_.window() / segment;
  info.congestion_threshold =
      congestion_.threshold() == Congestion::most ? 0x7fffffff : congestion_.threshold() / segment;
  info.last_data_sent = clock - sent_at_;
  info.last_data_received = clock - data_heard_at_;
  info.last_acknowledgment_received = clock - heard_at_;
  info.path_mtu = path_mtu_ != 0 ? path_mtu_ : route_mtu_;
  info.round_trip = microseconds(round_trip_.smoothed());
  info.round_trip_variance = microseconds(round_trip_.variance());
  info.least_round_trip = microseconds(round_trip_.least());
  info.receive_space = receive_limit_;
  info.send_window = send_window_;
  info.receive_window = SequenceRange{receive_.next(), advertised_}.bytes();
  info.not_sent_bytes = unsent_bytes();
  return info;
}

}  // namespace ingot::os::network
