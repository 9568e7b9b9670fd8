#include "os/network/tcp/time_waits.h"

#include <algorithm>

namespace ingot::os::network {

bool TimeWait::gives_way_to(const Segment& syn) const {
  constexpr std::uint8_t others = TcpHeader::ack | TcpHeader::rst | TcpHeader::fin;
  if (remains.awaits_fin || !syn.has(TcpHeader::syn) || syn.has(others)) return false;
  if (remains.has_timestamps && syn.has_timestamp && syn.timestamp != remains.recent_timestamp) {
    return static_cast<std::int32_t>(syn.timestamp - remains.recent_timestamp) > 0;
  }
  return syn.sequence > remains.receive_next;
}

TimeWaits::~TimeWaits() {
  while (TimeWait* const record = by_age_.first()) remove(*record);
}

TimeWait* TimeWaits::find(const Flow& flow, std::uint64_t hash) {
  return table_.find(hash, [&](const TimeWait& record) { return record.flow() == flow; });
}

bool TimeWaits::add(const TcpRemains& remains, PortSharing sharing, std::uint64_t hash, Nanoseconds now) {
  if (table_.count() >= host_.settings.most_time_waits && !by_age_.is_empty()) remove(*by_age_.first());
  TimeWait* const record = host_.machine.blocks().make<TimeWait>(remains);
  if (record == nullptr) return false;
  record->remains.sharing = sharing;
  record->since = timestamp_clock(now);
  table_.insert(*record, hash);
  by_age_.push_back(*record);
  if (!is_set()) host_.timers.set(*this, now + host_.settings.time_wait);
  return true;
}

void TimeWaits::remove(TimeWait& record) {
  ports_.drop_flow(record.remains.local, record.remains.sharing);
  table_.remove(record);
  by_age_.remove(record);
  host_.machine.blocks().destroy(record);
  if (by_age_.is_empty()) host_.timers.clear(*this);
}

bool TimeWaits::may_be_reused(const TimeWait& record, Nanoseconds now) const {
  return !record.remains.awaits_fin && record.remains.has_timestamps && host_.settings.timestamps &&
         timestamp_clock(now) - record.since >= 1000;
}

void TimeWaits::begin_anew(TimeWait& record, Nanoseconds now) {
  record.since = timestamp_clock(now);
  by_age_.remove(record);
  by_age_.push_back(record);
}

bool TimeWaits::arrived_in_order(TimeWait& record, const Segment& segment, Nanoseconds now) {
  TcpRemains& remains = record.remains;
  if (segment.has(TcpHeader::rst)) {
    remove(record);
    return true;
  }
  const bool is_plain = segment.has(TcpHeader::ack) && !segment.has(TcpHeader::syn);
  if (!is_plain || segment.acknowledgment != remains.send_next) return false;
  if (segment.payload_bytes != 0) {  // for nobody (RFC 1122 4.2.2.13)
    ++host_.counters.sent_resets;
    answer(remains, TcpHeader::rst | TcpHeader::ack, now);
    remove(record);
    return true;
  }
  if (!segment.has(TcpHeader::fin)) return false;
  remains.awaits_fin = false;
  remains.receive_next += 1;
  if (segment.has_timestamp) remains.recent_timestamp = segment.timestamp;
  begin_anew(record, now);
  answer(remains, TcpHeader::ack, now);
  return true;
}

void TimeWaits::arrived(TimeWait& record, const Segment& segment, Nanoseconds now) {
  const TcpRemains& remains = record.remains;
  const bool is_old = remains.has_timestamps && segment.has_timestamp &&
                      SequenceNumber(segment.timestamp) < SequenceNumber(remains.recent_timestamp);
  const bool is_next = segment.sequence == remains.receive_next;
  if (remains.awaits_fin && is_next && !is_old && arrived_in_order(record, segment, now)) return;
  // A reset could come from the connection before: it ends nothing (RFC 1337). An ACK that says nothing new gets no
  // answer, or two that wait would talk for ever.
  const bool is_expected = is_next && segment.length() == 0;
  const bool is_nothing = !segment.has(TcpHeader::ack | TcpHeader::syn);
  if (segment.has(TcpHeader::rst) || is_expected || is_nothing || !host_.may_challenge(now)) return;
  // Our last ACK was lost: the time begins anew, for the very FIN that it was for and for no other segment.
  const bool is_last = segment.has(TcpHeader::fin) && segment.end() == remains.receive_next &&
                       segment.acknowledgment == remains.send_next;
  if (is_last && !remains.awaits_fin && !is_old) begin_anew(record, now);
  answer(remains, TcpHeader::ack, now);
}

void TimeWaits::answer(const TcpRemains& remains, std::uint8_t flags, Nanoseconds now) {
  const Answer<Route> route = host_.internet.route(remains.remote.address, remains.local.address);
  if (!route.ok()) return;
  Segment answer;
  answer.source = remains.local.port;
  answer.destination = remains.remote.port;
  answer.sequence = remains.send_next;
  answer.acknowledgment = remains.receive_next;
  answer.flags = flags;
  answer.window =
      static_cast<std::uint16_t>(std::min<std::uint32_t>(remains.receive_window >> remains.receive_scale, 65'535));
  answer.has_timestamp = remains.has_timestamps;
  answer.timestamp = timestamp_clock(now) + remains.timestamp_offset;
  answer.echo = remains.recent_timestamp;
  const Travel travel{remains.local.address, remains.remote.address, Protocol::tcp};
  send_segment(host_.internet, route.value(), travel, answer, host_.settings.layout);
}

void TimeWaits::expired(Nanoseconds now) {
  while (TimeWait* const oldest = by_age_.first()) {
    const Nanoseconds age = milliseconds(timestamp_clock(now) - oldest->since);
    if (age < host_.settings.time_wait) return host_.timers.set(*this, now + (host_.settings.time_wait - age));
    remove(*oldest);
  }
}

}  // namespace ingot::os::network
