// What time brings: retransmissions, probes, keep-alive, and the end of waiting; and what others on the way say.
#include <algorithm>

#include "os/network/tcp/connection.h"

namespace ingot::os::network {

namespace {
constexpr Nanoseconds cork_time = milliseconds(200);  // what is held back for more goes after this
}

void TcpConnection::set_timer() {
  const Nanoseconds first = std::min({retransmit_at_, acknowledge_at_, idle_at_});
  if (first == never) {
    host_.timers.clear(*this);
  } else {
    host_.timers.set(*this, first);
  }
}

void TcpConnection::expired(Nanoseconds now) {
  const Reference<TcpConnection> self(*this);
  if (acknowledge_at_ <= now) {
    acknowledge_at_ = never;
    acknowledge_now_ = true;
  }
  if (retransmit_at_ <= now) {
    retransmit_at_ = never;
    retransmission_due(now);
  }
  if (idle_at_ <= now) {
    idle_at_ = never;
    idle_due(now);
  }
  if (state_ == TcpState::closed) return;
  send_pending(now);
  set_timer();
}

void TcpConnection::arm_retransmission(Nanoseconds now) {
  if (retransmit_at_ != never) return;
  probes_tail_ = false;
  if (next_ != unacknowledged_) {
    Nanoseconds wait = timeout();
    // Where the end of a burst is lost no duplicates tell of it (RFC 8985 7): two round trips are enough to ask, and
    // for a single segment what its acknowledgment may be delayed by.
    if (has_selective_ && recovery_ == Recovery::none && backoff_ == 0 && !tail_is_probed_ && round_trip_.is_known()) {
      const bool is_single = next_.since(unacknowledged_) <= segment_bytes();
      const Nanoseconds probe =
          round_trip_.smoothed() * 2 + (is_single ? host_.settings.minimum_timeout : milliseconds(2));
      probes_tail_ = true;
      wait = std::min(wait, probe);
    }
    retransmit_at_ = now + wait;
  } else if (unsent_bytes() != 0 || (fin_wanted_ && !fin_is_sent())) {
    retransmit_at_ = now + (send_window_ != 0 ? cork_time : timeout());
  }
}

void TcpConnection::retransmission_due(Nanoseconds now) {
  if (is_handshaking()) return syn_due(now);
  if (next_ != unacknowledged_) return probes_tail_ ? tail_due(now) : timeout_due(now);
  if (unsent_bytes() != 0 || (fin_wanted_ && !fin_is_sent())) probe_due(now);
}

// Whether the peer has been silent for too long.
bool TcpConnection::has_given_up(unsigned retries, Nanoseconds now) const {
  const std::uint32_t patience = options_.user_timeout_milliseconds;
  if (patience != 0) return is_stalled_ && timestamp_clock(now) - stalled_since_ >= patience;
  return backoff_ >= retries;
}

void TcpConnection::syn_due(Nanoseconds now) {
  const TcpSettings& settings = host_.settings;
  const unsigned retries = state_ == TcpState::syn_received ? settings.syn_acknowledgment_retries
                           : options_.syn_retries != 0      ? options_.syn_retries
                                                            : settings.syn_retries;
  const Nanoseconds patience = settings.connect_timeout;
  const bool is_over = patience.count() != 0 && milliseconds(timestamp_clock(now) - stalled_since_) >= patience;
  if (backoff_ >= retries || is_over) {
    ++host_.counters.timed_out;
    return fail(soft_error_ != Errno{} ? soft_error_ : Errno::etimedout);
  }
  ++backoff_;
  ++total_retransmissions_;
  ++host_.counters.retransmitted;
  timed_at_ = Nanoseconds(-1);
  retransmit_at_ = now + timeout();
  if (patience.count() != 0) {
    const Nanoseconds end = now + patience - milliseconds(timestamp_clock(now) - stalled_since_);
    retransmit_at_ = std::min(retransmit_at_, end);
  }
  refresh_route();
  send_syn(now);
}

// Something new, or the last segment again: its acknowledgment says what is missing before it.
void TcpConnection::tail_due(Nanoseconds now) {
  probes_tail_ = false;
  tail_is_probed_ = true;
  const std::uint32_t segment = segment_bytes();
  if (send_window_ > next_.since(unacknowledged_) && unsent_bytes() != 0) {
    const std::uint32_t usable = send_window_ - next_.since(unacknowledged_);
    send_data(next_, std::min({unsent_bytes(), segment, usable}), false, now);
    return;
  }
  const SequenceNumber end = earlier(next_, write_end_);
  const SequenceNumber from = later(unacknowledged_, end - segment);
  const SequenceNumber sent_again = retransmitted_until_;
  send_data(from, end > from ? end.since(from) : 0, false, now);
  retransmitted_until_ = sent_again;  // nothing is known to be lost yet
}

void TcpConnection::timeout_due(Nanoseconds now) {
  if (!is_stalled_) {
    is_stalled_ = true;
    stalled_since_ = sent_at_;
  }
  // A peer that answers, but has closed its window over what it was sent, is not gone.
  const bool is_alive = send_window_ == 0 && !is_orphan_ &&
                        milliseconds(timestamp_clock(now) - heard_at_) < host_.settings.maximum_timeout;
  if (!is_alive && has_given_up(is_orphan_ ? host_.settings.orphan_retries : host_.settings.data_retries, now)) {
    ++host_.counters.timed_out;
    return fail(soft_error_ != Errno{} ? soft_error_ : Errno::etimedout);
  }
  ++host_.counters.timeouts;
  if (recovery_ != Recovery::timeout) {
    undo_window_ = recovery_ == Recovery::none ? congestion_.window() : 0;
    undo_threshold_ = congestion_.threshold();
    undo_timestamp_ = timestamp(now);
    undo_segments_ = 0;
    congestion_.reduce(next_.since(unacknowledged_));
  }
  recovery_ = Recovery::timeout;
  recovery_point_ = next_;
  congestion_.set_window(segment_bytes());
  if (backoff_ < 30) ++backoff_;
  all_is_lost();
  retransmit_at_ = now + timeout();
}

// Data wait and nothing is under way: the peer's window is closed, or something was held back.
void TcpConnection::probe_due(Nanoseconds now) {
  if (send_window_ != 0) {
    push_ = true;
    return;
  }
  if (!is_stalled_) {
    is_stalled_ = true;
    stalled_since_ = timestamp_clock(now);
  }
  const bool is_silent = probes_ >= host_.settings.data_retries;
  const bool is_over = options_.user_timeout_milliseconds != 0 && has_given_up(0, now);
  if (is_silent || is_over || (is_orphan_ && backoff_ >= host_.settings.orphan_retries)) {
    ++host_.counters.timed_out;
    return abort(Errno::etimedout, now);
  }
  ++host_.counters.zero_window_probes;
  ++probes_;
  if (backoff_ < 16) ++backoff_;
  send_probe(now);
  retransmit_at_ = now + timeout();
}

// What a socket left behind ends at the time that close() set, whatever a peer does that takes a byte now and then.
// When it has said all it waits for the peer's FIN, for which a record will do, if those wait as long.
void TcpConnection::arm_idle(Nanoseconds now) {
  if (is_orphan_ && state_ != TcpState::fin_wait_2) return;
  idle_at_ = never;
  if (is_orphan_) {
    const std::int16_t wanted = options_.fin_wait_2_seconds;
    if (wanted < 0) return finish(nullptr);
    const Nanoseconds time = wanted != 0 ? seconds(wanted) : host_.settings.fin_wait_2;
    if (time == host_.settings.time_wait) return leave_record();
    idle_at_ = now + time;
  } else if (options_.keep_alive && (is_receiving() || state_ == TcpState::close_wait)) {
    const std::uint16_t wanted = options_.keep_alive_idle_seconds;
    idle_at_ = now + (wanted != 0 ? seconds(wanted) : host_.settings.keep_alive_idle);
  }
}

void TcpConnection::idle_due(Nanoseconds now) {
  if (state_ == TcpState::closed) return;
  if (is_orphan_ && state_ == TcpState::fin_wait_2) return finish(nullptr);
  if (is_orphan_) {
    ++host_.counters.orphans_dropped;
    return abort(Errno{}, now);
  }
  const TcpSettings& settings = host_.settings;
  const std::uint16_t idle_seconds = options_.keep_alive_idle_seconds, interval = options_.keep_alive_interval_seconds;
  const Nanoseconds idle = idle_seconds != 0 ? seconds(idle_seconds) : settings.keep_alive_idle;
  const Nanoseconds silent = milliseconds(timestamp_clock(now) - heard_at_);
  // What is under way is asked for by its own timer.
  const bool is_busy = next_ != unacknowledged_ || unsent_bytes() != 0;
  if (is_busy || silent < idle) {
    idle_at_ = now + (is_busy ? idle : idle - silent);
    return;
  }
  const unsigned probes = options_.keep_alive_probes != 0 ? options_.keep_alive_probes : settings.keep_alive_probes;
  const std::uint32_t patience = options_.user_timeout_milliseconds;
  if (patience != 0 ? probes_ != 0 && silent >= milliseconds(patience) : probes_ >= probes) {
    ++host_.counters.timed_out;
    return abort(Errno::etimedout, now);
  }
  ++host_.counters.keep_alives;
  ++probes_;
  send_probe(now);
  idle_at_ = now + (interval != 0 ? seconds(interval) : settings.keep_alive_interval);
}

// A stranger's word: believed as far as it names something that is under way (RFC 5927).
void TcpConnection::refused(const Refusal& refusal) {
  const SequenceNumber sequence(refusal.sequence);
  if (state_ == TcpState::closed || sequence < unacknowledged_ || sequence >= next_) return;
  if (refusal.kind == Refusal::Kind::too_big) {
    const std::uint16_t least = local_.address.is_v4() ? 552 : 1280;
    const std::uint16_t mtu = std::max(refusal.mtu, least);
    if (mtu >= (path_mtu_ != 0 ? std::min(path_mtu_, route_mtu_) : route_mtu_)) return;
    path_mtu_ = mtu;
    compute_segment();
    if (is_handshaking()) return;
    all_is_lost();  // in pieces that were too long; it is no congestion
    return host_.send_later(*this);
  }
  const Errno error = refusal.kind == Refusal::Kind::unreachable_port      ? Errno::econnrefused
                      : refusal.kind == Refusal::Kind::unreachable_network ? Errno::enetunreach
                                                                           : Errno::ehostunreach;
  const bool is_soft = refusal.kind == Refusal::Kind::unreachable_host || error == Errno::enetunreach;
  const bool is_borne = is_soft && host_.settings.bears_soft_refusals;
  if (is_handshaking() && host_.settings.refusals_end_connecting && !is_borne) return fail(error);
  soft_error_ = error;
}

}  // namespace ingot::os::network
