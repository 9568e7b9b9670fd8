// What acknowledgments say: how far the peer is, what was lost, and how much may be under way. Losses are found by
// duplicates (RFC 5681, 6582) and by what the peer says it has (RFC 6675); both end in the same three marks:
//
//   unacknowledged_ .... retransmitted_until_ .... lost_until_ .... next_        [#]: held by the scoreboard
//       sent again           to be sent again          under way
#include <algorithm>

#include "os/file/poll.h"
#include "os/network/tcp/connection.h"

namespace ingot::os::network {

namespace {
// RFC 2883: the first range does where it is acknowledged, or within the second.
bool tells_of_duplicate(const Segment& segment) {
  const SequenceRange first = segment.ranges[0], second = segment.ranges[1];
  return segment.range_count != 0 &&
         (first.begin < segment.acknowledgment ||
          (segment.range_count > 1 && first.begin >= second.begin && first.end <= second.end));
}
}  // namespace

// False: what the segment acknowledges cannot be, and nothing of it is believed (RFC 5961 5.2).
bool TcpConnection::take_acknowledgment(const Segment& segment, Nanoseconds now) {
  const SequenceNumber acknowledgment = segment.acknowledgment;
  if (acknowledgment > next_ || acknowledgment < unacknowledged_ - std::max(most_send_window_, 1u)) {
    challenge(now);
    return false;
  }
  probes_ = 0;
  const std::uint32_t news = has_selective_ ? take_ranges(segment) : 0;
  if (acknowledgment > unacknowledged_) {
    acknowledged_up_to(acknowledgment, segment, now);
  } else if (acknowledgment == unacknowledged_) {
    note_duplicate(segment, news);
  }
  update_window(segment);
  look_for_losses(now);
  return true;
}

void TcpConnection::update_window(const Segment& segment) {
  if (segment.acknowledgment < unacknowledged_) return;
  const bool is_newer = window_sequence_ < segment.sequence ||
                        (window_sequence_ == segment.sequence && window_acknowledgment_ <= segment.acknowledgment);
  if (!is_newer) return;
  const bool was_closed = send_window_ == 0;
  window_sequence_ = segment.sequence;
  window_acknowledgment_ = segment.acknowledgment;
  send_window_ = std::uint32_t{segment.window} << send_scale_;
  most_send_window_ = std::max(most_send_window_, send_window_);
  if (was_closed && send_window_ != 0) {  // no more probes; what is under way is worth another try
    backoff_ = 0;
    is_stalled_ = false;
    retransmit_at_ = never;
  }
}

// RFC 3168 6.1: what a router marked slows the sender down once in a round trip, as a loss would.
void TcpConnection::heed_notification(const Segment& segment) {
  if (segment.has(cwr)) echoes_congestion_ = false;
  if (segment.is_marked && segment.payload_bytes != 0) echoes_congestion_ = acknowledge_now_ = true;
  if (!segment.has(ece) || recovery_ != Recovery::none || unacknowledged_ < recovery_point_) return;
  congestion_.reduce(next_.since(unacknowledged_));
  congestion_.set_window(congestion_.threshold());
  recovery_point_ = next_;
  has_reduced_ = true;
}

// Bytes that the peer has and we did not know of.
std::uint32_t TcpConnection::take_ranges(const Segment& segment) {
  std::uint32_t news = 0;
  for (std::size_t i = 0; i < segment.range_count; ++i) {
    const SequenceRange range = segment.ranges[i];
    if (i == 0 && tells_of_duplicate(segment)) {
      note_needless(range);
    } else if (!range.is_empty() && range.begin > segment.acknowledgment && range.begin > unacknowledged_ &&
               range.begin < next_ && range.end <= next_) {
      news += scoreboard_.add(range, host_.machine.blocks());
    }
  }
  return news;
}

void TcpConnection::note_needless(SequenceRange range) {
  if (range.is_empty() || range.end > next_) return;
  ++host_.counters.duplicates_heard;
  if (undo_segments_ == 0 || --undo_segments_ != 0 || undo_window_ == 0) return;
  undo();
}

void TcpConnection::note_duplicate(const Segment& segment, std::uint32_t news) {
  const bool is_plain = segment.payload_bytes == 0 && !segment.has(fin) && next_ != unacknowledged_ &&
                        std::uint32_t{segment.window} << send_scale_ == send_window_;
  if (has_selective_ ? news != 0 : is_plain) duplicates_ = static_cast<std::uint16_t>(std::min(duplicates_ + 1, 65535));
}

// One segment is timed at once; what was sent again says nothing (Karn), unless the peer echoes when it was sent. A
// duplicate is answered with an older echo: between the two lies a timeout, because the first answer was lost.
void TcpConnection::measure(SequenceNumber acknowledgment, const Segment& segment, Nanoseconds now) {
  if (timed_at_.count() >= 0 && acknowledgment >= timed_end_) {
    round_trip_.sample(now - timed_at_);
    timed_at_ = Nanoseconds(-1);
  } else if (timed_at_.count() < 0 && has_timestamps_ && segment.has_timestamp && segment.echo != 0 &&
             !tells_of_duplicate(segment)) {
    const std::uint32_t elapsed = timestamp(now) - segment.echo;
    if (elapsed < 120'000) round_trip_.sample(milliseconds(elapsed));
  }
}

void TcpConnection::acknowledged_up_to(SequenceNumber acknowledgment, const Segment& segment, Nanoseconds now) {
  const std::uint32_t bytes = acknowledgment.since(unacknowledged_), flight = next_.since(unacknowledged_);
  const std::uint32_t news = bytes - scoreboard_.bytes_within({unacknowledged_, acknowledgment});
  measure(acknowledgment, segment, now);
  send_.drop_front(SequenceRange{chain_begin(), earlier(acknowledgment, write_end_)}.bytes());
  unacknowledged_ = acknowledgment;
  scoreboard_.drop_before(acknowledgment, host_.machine.blocks());
  lost_until_ = later(lost_until_, acknowledgment);
  retransmitted_until_ = later(retransmitted_until_, acknowledgment);
  small_end_ = later(small_end_, acknowledgment);
  backoff_ = 0;
  is_stalled_ = false;
  soft_error_ = {};
  retransmit_at_ = never;  // send_pending sets it anew
  tail_is_probed_ = false;
  if (!undo_if_spurious(segment) && recovery_ != Recovery::none) go_on_in_recovery(bytes);
  if (recovery_ == Recovery::none) {
    duplicates_ = 0;
    recovery_point_ = later(recovery_point_, acknowledgment);
  }
  // A window that was not used says nothing of what the path bears (RFC 9293's flows that have little to say).
  const bool was_used = window_limited_ || (congestion_.is_in_slow_start() && congestion_.window() / 2 < flight);
  if (recovery_ != Recovery::fast && was_used) congestion_.acknowledged(news, now, round_trip_.smoothed());
  if (room_wanted_ && is_writable()) {
    room_wanted_ = false;
    tell(poll_event::writable | poll_event::write_normal);
  }
}

void TcpConnection::go_on_in_recovery(std::uint32_t bytes) {
  if (unacknowledged_ >= recovery_point_) {
    if (recovery_ == Recovery::fast) congestion_.set_window(congestion_.threshold());
    recovery_ = Recovery::none;
    return;
  }
  sent_since_ = next_;  // the next missing one may have been sent again before; nobody noted when
  if (recovery_ != Recovery::fast) return;
  // A part only: what follows it was lost as well (RFC 6582 3.2).
  const std::uint32_t segment = std::max(segment_bytes(), 1u);
  const SequenceNumber head_end = earlier(unacknowledged_ + segment, next_);
  if (!has_selective_) {
    duplicates_ -=
        static_cast<std::uint16_t>(std::min<std::uint32_t>(duplicates_, (bytes + segment - 1) / segment - 1));
    retransmitted_until_ = unacknowledged_;
    retransmit_first_ = true;
  }
  lost_until_ = later(lost_until_, head_end);
}

void TcpConnection::look_for_losses(Nanoseconds now) {
  if (next_ == unacknowledged_) return;
  // A probe of the tail was sent long after all else: what is missing when it has come was lost (RFC 8985 7).
  const bool probe_came =
      tail_is_probed_ && recovery_ == Recovery::none && !scoreboard_.is_empty() && scoreboard_.end() == next_;
  const SequenceNumber lost = scoreboard_.lost_before(unacknowledged_, probe_came ? 0 : segment_bytes());
  if (recovery_ != Recovery::none) {
    lost_until_ = later(lost_until_, lost);
    look_for_lost_again(now);
  } else if (lost > unacknowledged_ || duplicates_ >= 3) {
    lost_until_ = later(lost, earlier(unacknowledged_ + segment_bytes(), next_));
    begin_fast_recovery(now);
  }
}

// More than two segments came that were sent behind a retransmission, and it did not: it is lost as well.
void TcpConnection::look_for_lost_again(Nanoseconds now) {
  if (retransmitted_until_ <= unacknowledged_) return;
  if (scoreboard_.bytes_within({sent_since_, next_}) <= 2 * segment_bytes()) return;
  retransmit(scoreboard_.hole_within({unacknowledged_, retransmitted_until_}), now);
}

void TcpConnection::begin_fast_recovery(Nanoseconds now) {
  ++host_.counters.fast_recoveries;
  undo_window_ = congestion_.window();
  undo_threshold_ = congestion_.threshold();
  undo_timestamp_ = timestamp(now);
  undo_segments_ = 0;
  congestion_.reduce(next_.since(unacknowledged_));
  congestion_.set_window(congestion_.threshold());
  recovery_ = Recovery::fast;
  recovery_point_ = next_;
  retransmit_first_ = true;
  if (probes_tail_) retransmit_at_ = never;  // nothing is left to find out: a timeout is waited for now
}

// The peer answers what was sent before anything was sent again: nothing was lost (RFC 3522, 4015).
bool TcpConnection::undo_if_spurious(const Segment& segment) {
  if (recovery_ == Recovery::none || undo_window_ == 0 || undo_segments_ == 0 || !has_timestamps_ ||
      !segment.has_timestamp || SequenceNumber(segment.echo) >= SequenceNumber(undo_timestamp_)) {
    return false;
  }
  undo();
  return true;
}

void TcpConnection::undo() {
  ++host_.counters.spurious_recoveries;
  congestion_.restore(undo_window_, undo_threshold_);
  recovery_ = Recovery::none;
  duplicates_ = 0;
  undo_window_ = 0;
  lost_until_ = retransmitted_until_ = unacknowledged_;
}

void TcpConnection::all_is_lost() {
  // What the peer held it may have dropped again: twice is too often to believe it.
  if (scoreboard_.holds(unacknowledged_) || backoff_ > 1) scoreboard_.clear(host_.machine.blocks());
  lost_until_ = next_;
  retransmitted_until_ = unacknowledged_;
  duplicates_ = 0;
  timed_at_ = Nanoseconds(-1);
  retransmit_first_ = true;
}

// RFC 6675's pipe: what was sent and neither arrived nor was lost. Without SACK each duplicate stands for a segment.
std::uint32_t TcpConnection::in_flight() {
  const auto missing = [&](SequenceNumber end) {
    const SequenceRange range{unacknowledged_, end};
    return range.is_empty() ? 0 : range.bytes() - scoreboard_.bytes_within(range);
  };
  const std::uint32_t sent = next_.since(unacknowledged_) - scoreboard_.bytes();
  const std::uint32_t flight = sent - missing(lost_until_) + missing(earlier(retransmitted_until_, lost_until_));
  if (has_selective_) return flight;
  const std::uint64_t arrived = std::uint64_t{duplicates_} * segment_bytes();
  return flight > arrived ? static_cast<std::uint32_t>(flight - arrived) : 0;
}

}  // namespace ingot::os::network
