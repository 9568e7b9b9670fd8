#include "os/network/tcp/tcp.h"

#include <algorithm>

#include "os/file/poll.h"

namespace ingot::os::network {
namespace {

bool is_pending(const TcpConnection& connection) {
  return static_cast<const ListLink<TcpPendingTag>&>(connection).is_linked();
}

}  // namespace

Tcp::Tcp(Machine& its_machine, Internet& its_internet, NetworkTimers& its_timers, const TcpSettings& its_settings)
    : TcpHost(its_machine, its_internet, its_timers, its_settings),
      ports_(its_machine, its_internet),
      connections_(its_machine.blocks().heap()),
      handshakes_(its_machine.blocks().heap()),
      time_waits_(*this, ports_),
      cookies_(its_machine),
      table_key_(draw_key(its_machine)),
      number_key_(draw_key(its_machine)) {}

Tcp::~Tcp() {
  connections_.visit([&](TcpConnection& connection) {
    if (!is_pending(connection)) pending_.push_back(connection);
  });
  for (IntrusiveList<TcpConnection, TcpPendingTag>* const list : {&pending_, &without_room_}) {
    while (TcpConnection* const connection = list->pop_front()) closed(*connection, nullptr);
  }
  timers.clear(*this);
}

TcpConnection* Tcp::find(const Flow& flow, std::uint64_t hash) {
  return connections_.find(hash, [&](const TcpConnection& connection) {
    return connection.remote() == flow.remote && connection.local() == flow.local;
  });
}

Handshake* Tcp::find_handshake(const Flow& flow, std::uint64_t hash) {
  return handshakes_.find(hash, [&](const Handshake& handshake) { return handshake.flow == flow; });
}

TcpListener* Tcp::find_listener(const Flow& flow, std::uint64_t hash) {
  return static_cast<TcpListener*>(
      ports_.find(flow.local.port, static_cast<std::uint32_t>(hash >> 32),
                  [&](const Binding& binding) { return binding.listens() ? binding.fit(flow.local.address) : 0; }));
}

void Tcp::received(const Arrival& arrival, Received&& packet) {
  if (arrival.to_many) return;
  const std::optional<Segment> segment = take_segment(arrival, packet);
  if (!segment.has_value()) {
    ++counters.received_wrong;
    return;
  }
  ++counters.received;
  const Nanoseconds now = machine.now();
  const Flow flow{{arrival.to, segment->destination}, {arrival.from, segment->source}};
  const std::uint64_t hash = flow.hash(table_key_);
  if (TcpConnection* const connection = find(flow, hash)) {
    const Reference<TcpConnection> held(*connection);
    return connection->segment_arrived(*segment, std::move(packet), now);
  }
  const Incoming incoming{flow, hash, *segment, packet, now};
  if (Handshake* const handshake = find_handshake(flow, hash)) return arrived_in_handshake(*handshake, incoming);
  TcpListener* const listener = find_listener(flow, hash);
  std::optional<SequenceNumber> start;
  if (TimeWait* const old = time_waits_.find(flow, hash)) {
    if (listener == nullptr || !old->gives_way_to(*segment)) return time_waits_.arrived(*old, *segment, now);
    start = old->next_start();
    time_waits_.remove(*old);
    ++table_counters_.time_waits_reused;
  }
  if (listener != nullptr) return arrived_at_listener(*listener, incoming, start);
  reset(incoming);
}

void Tcp::refused(const Refusal& refusal) {
  const Flow flow{{refusal.from, refusal.source_port}, {refusal.to, refusal.destination_port}};
  const std::uint64_t hash = flow.hash(table_key_);
  if (TcpConnection* const connection = find(flow, hash)) {
    const Reference<TcpConnection> held(*connection);
    return connection->refused(refusal);
  }
  Handshake* const handshake = find_handshake(flow, hash);
  const bool concerns = handshake != nullptr && refusal.sequence == handshake->sequence.value();
  if (concerns && refusal.kind != Refusal::Kind::too_big) drop(*handshake);
}

Answer<Reference<TcpConnection>> Tcp::connect(Binding& binding, const Endpoint& to, const TcpOptions& options,
                                              SocketEvents& events, Nanoseconds now) {
  TcpConnection::Start start;
  start.remote = {or_loopback(to.address), to.port};
  start.options = options;
  if (!binding.may_reach(start.remote.address)) return Errno::enetunreach;
  const IpAddress bound = binding.local().address.is_unspecified() ? IpAddress() : binding.local().address;
  start.route = TRY(internet.route(start.remote.address, bound));
  if (start.route.to_many) return Errno::enetunreach;
  Flow flow{{start.route.source, binding.local().port}, start.remote};
  if (!binding.is_bound()) {
    flow.local.port = TRY(ports_.choose(start.route.source, start.remote, [&](std::uint16_t port) {
      return is_free({{start.route.source, port}, start.remote}, now);
    }));
  } else if (!is_free(flow, now)) {
    return Errno::eaddrnotavail;
  }
  const std::uint64_t hash = flow.hash(table_key_);
  TimeWait* const old = time_waits_.find(flow, hash);
  start.local = flow.local;
  start.sequence = old != nullptr ? old->next_start() : initial_sequence(flow, now);
  start.timestamp_offset = timestamp_offset(flow);
  Reference<TcpConnection> connection = TRY(TcpConnection::create(*this, start));
  TRY(ports_.add_flow(flow.local, binding.sharing));
  if (old != nullptr) {
    time_waits_.remove(*old);
    ++table_counters_.time_waits_reused;
  }
  add(*connection, binding.sharing, hash);
  ports_.release(binding);
  connection->set_events(&events);
  connection->connect(now);
  return connection;
}

Answer<Owned<TcpListener>> Tcp::listen(Binding& binding, std::uint32_t backlog, const TcpOptions& options,
                                       SocketEvents& events) {
  HeapBlocks& blocks = machine.blocks();
  Owned<TcpListener> listener(blocks.make<TcpListener>(*this, binding, options, events), blocks.heap());
  if (!listener) return Errno::enomem;
  if (!binding.is_bound()) TRY(ports_.bind(binding, {binding.any_address(), 0}));
  TRY(ports_.listen(binding));
  ports_.hand_over(binding, *listener);
  listener->set_backlog(backlog);
  return listener;
}

bool Tcp::is_free(const Flow& flow, Nanoseconds now) {
  const std::uint64_t hash = flow.hash(table_key_);
  if (find(flow, hash) != nullptr || find_handshake(flow, hash) != nullptr) return false;
  const TimeWait* const old = time_waits_.find(flow, hash);
  return old == nullptr || time_waits_.may_be_reused(*old, now);
}

void Tcp::add(TcpConnection& connection, PortSharing sharing, std::uint64_t hash) {
  connection.add_reference();
  connection.sharing = sharing;
  connections_.insert(connection, hash);
}

void Tcp::closed(TcpConnection& connection, const TcpRemains* remains) {
  finishing_ = nullptr;
  // It may be in the other list: leaving is the same for both.
  if (is_pending(connection)) pending_.remove(connection);
  connections_.remove(connection);
  const Flow flow{connection.local(), connection.remote()};
  if (remains != nullptr && time_waits_.add(*remains, connection.sharing, flow.hash(table_key_), machine.now())) {
    ++table_counters_.time_waits;
  } else {
    ports_.drop_flow(connection.local(), connection.sharing);
  }
  connection.drop_reference();
}

void Tcp::send_later(TcpConnection& connection) {
  if (is_pending(connection)) return;
  pending_.push_back(connection);
  // Outside of a batch nobody else comes by.
  if (!is_set()) timers.set(*this, machine.now());
}

void Tcp::send_when_room(TcpConnection& connection) {
  if (!is_pending(connection)) without_room_.push_back(connection);
}

void Tcp::send_pending(Nanoseconds now) {
  timers.clear(*this);
  // Those that want to be called again are called the next time.
  IntrusiveList<TcpConnection, TcpPendingTag> called;
  while (TcpConnection* const connection = pending_.pop_front()) called.push_back(*connection);
  while (TcpConnection* const connection = called.pop_front()) {
    const Reference<TcpConnection> held(*connection);
    connection->send_pending(now);
  }
}

void Tcp::link_changed(Nanoseconds now) {
  while (TcpConnection* const connection = without_room_.pop_front()) pending_.push_back(*connection);
  send_pending(now);
}

SequenceNumber Tcp::initial_sequence(const Flow& flow, Nanoseconds now) const {
  const auto clock = static_cast<std::uint32_t>(static_cast<std::uint64_t>(now.count()) / 4000);
  return SequenceNumber(static_cast<std::uint32_t>(flow.hash(number_key_)) + clock);
}

std::uint32_t Tcp::timestamp_offset(const Flow& flow) const {
  return static_cast<std::uint32_t>(flow.hash(number_key_) >> 32);
}

Segment Tcp::make_segment(const Flow& flow, std::uint8_t flags, SequenceNumber sequence,
                          SequenceNumber acknowledgment) {
  Segment segment;
  segment.source = flow.local.port;
  segment.destination = flow.remote.port;
  segment.flags = flags;
  segment.sequence = sequence;
  segment.acknowledgment = acknowledgment;
  return segment;
}

void Tcp::send(const Flow& flow, const Segment& segment) {
  const Answer<Route> route = internet.route(flow.remote.address, flow.local.address);
  if (!route.ok()) return;
  const Travel travel{flow.local.address, flow.remote.address, Protocol::tcp};
  if (send_segment(internet, route.value(), travel, segment, settings.layout)) ++counters.sent;
}

void Tcp::reset(const Incoming& incoming) {
  if (incoming.segment.has(TcpHeader::rst)) return;
  if (incoming.now - reset_second_ >= seconds(1)) {
    reset_second_ = incoming.now;
    resets_ = 0;
  }
  if (!incoming.flow.remote.address.is_loopback() && resets_++ >= settings.resets_per_second) {
    ++table_counters_.resets_withheld;
    return;
  }
  ++counters.sent_resets;
  send(incoming.flow, reset_for(incoming.segment));
}

TcpRow Tcp::row_of(TcpConnection& connection) {
  const Flow flow{connection.local(), connection.remote()};
  return {flow, connection.state(), connection.unacknowledged_bytes(), connection.unread_bytes()};
}

std::uint64_t Tcp::waiting_in(const Binding& binding) {
  return static_cast<const TcpListener&>(binding).waiting_count();
}

}  // namespace ingot::os::network
