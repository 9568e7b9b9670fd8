// TimeWaits: connections that are over, remembered for a while so that what is still on its way disturbs no later one
// (RFC 9293 3.4.1); and such whose socket is gone, with nothing left to say, until the peer ends its side (FIN-WAIT-2).
// A record is small, and the oldest go when there are too many.
#pragma once

#include <cstdint>

#include "base/intrusive_list.h"
#include "os/network/port_table.h"
#include "os/network/tcp/host.h"

namespace ingot::os::network {

struct TimeWait : HashLink<struct TimeWaitTag>, ListLink<struct TimeWaitTag> {
  explicit TimeWait(const TcpRemains& what) : remains(what) {}

  Flow flow() const { return {remains.local, remains.remote}; }
  // Where a connection of the same flow begins, beyond all that the old one has sent.
  SequenceNumber next_start() const { return remains.send_next + 65'537; }
  // Whether a peer's SYN begins a new connection instead of being late (RFC 6191, RFC 9293 3.10.7.4).
  bool gives_way_to(const Segment& syn) const;

  TcpRemains remains;
  std::uint32_t since = 0;  // of timestamp_clock
};
static_assert(sizeof(TimeWait) <= 96);

class TimeWaits : private NetworkTimer {
 public:
  TimeWaits(TcpHost& host, PortTable& ports) : host_(host), ports_(ports), table_(host.machine.blocks().heap()) {}
  ~TimeWaits();

  std::size_t count() const { return table_.count(); }
  TimeWait* find(const Flow& flow, std::uint64_t hash);
  // It keeps the port for the connection. False: there is no memory, and the port is the caller's to drop.
  bool add(const TcpRemains& remains, PortSharing sharing, std::uint64_t hash, Nanoseconds now);
  // Its port is free then.
  void remove(TimeWait& record);
  // Our own connect need not wait that long where timestamps tell old from new.
  bool may_be_reused(const TimeWait& record, Nanoseconds now) const;
  // A segment that begins nothing new: answered, where the peer needs it.
  void arrived(TimeWait& record, const Segment& segment, Nanoseconds now);

  template <class Use>
  void visit(Use&& use) {
    for (const TimeWait& record : by_age_) use(record);
  }

 private:
  void expired(Nanoseconds now) override;
  // In FIN-WAIT-2, a segment at the place that is next. False: nothing has come of it.
  bool arrived_in_order(TimeWait& record, const Segment& segment, Nanoseconds now);
  void begin_anew(TimeWait& record, Nanoseconds now);
  void answer(const TcpRemains& remains, std::uint8_t flags, Nanoseconds now);

  TcpHost& host_;
  PortTable& ports_;
  HashTable<TimeWait, TimeWaitTag> table_;
  IntrusiveList<TimeWait, TimeWaitTag> by_age_;
};

}  // namespace ingot::os::network
