#include "os/network/tcp/time_waits.h"

#include <algorithm>

namespace ingot::os::network {

bool TimeWait::gives_way_to(const Segment& syn) const {
  if (!syn.has(TcpHeader::syn) || syn.has(TcpHeader::ack | TcpHeader::rst | TcpHeader::fin)) return false;
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
  return record.remains.has_timestamps && host_.settings.timestamps && timestamp_clock(now) - record.since >= 1000;
}

void TimeWaits::arrived(TimeWait& record, const Segment& segment, Nanoseconds now) {
  // A reset could come from the connection before: it ends nothing (RFC 1337). An ACK that says nothing new gets no
  // answer, or two that wait would talk for ever.
  const bool is_expected = segment.sequence == record.remains.receive_next && segment.length() == 0;
  const bool is_nothing = !segment.has(TcpHeader::ack | TcpHeader::syn);
  if (segment.has(TcpHeader::rst) || is_expected || is_nothing) return;
  if (segment.has(TcpHeader::fin)) {  // our last ACK was lost: the time begins anew
    record.since = timestamp_clock(now);
    by_age_.remove(record);
    by_age_.push_back(record);
  } else if (!host_.may_challenge(now)) {
    return;
  }
  acknowledge(record.remains, now);
}

void TimeWaits::acknowledge(const TcpRemains& remains, Nanoseconds now) {
  const Answer<Route> route = host_.internet.route(remains.remote.address, remains.local.address);
  if (!route.ok()) return;
  Segment answer;
  answer.source = remains.local.port;
  answer.destination = remains.remote.port;
  answer.sequence = remains.send_next;
  answer.acknowledgment = remains.receive_next;
  answer.flags = TcpHeader::ack;
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
