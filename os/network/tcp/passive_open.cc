// Tcp, where peers begin connections.
#include <algorithm>

#include "os/file/poll.h"
#include "os/network/tcp/tcp.h"

namespace ingot::os::network {

TcpListener::~TcpListener() {
  const Nanoseconds now = tcp_.machine.now();
  tcp_.ports_.release(*this);
  while (Handshake* const handshake = handshakes_.first()) tcp_.drop(*handshake);
  while (waiting_count_ != 0) accept().value()->abort(Errno::econnreset, now);
}

void TcpListener::push(TcpConnection& connection) {
  connection.add_reference();
  (first_waiting_ == nullptr ? first_waiting_ : last_waiting_->next_waiting) = &connection;
  last_waiting_ = &connection;
  ++waiting_count_;
}

Answer<Reference<TcpConnection>> TcpListener::accept() {
  TcpConnection* const first = first_waiting_;
  if (first == nullptr) return Errno::eagain;
  first_waiting_ = std::exchange(first->next_waiting, nullptr);
  --waiting_count_;
  return Reference<TcpConnection>::adopt(*first);
}

void TcpListener::set_backlog(std::uint32_t backlog) { backlog_ = std::min(backlog, tcp_.settings.most_backlog); }

std::uint32_t TcpListener::events() const {
  return waiting_count_ == 0 ? 0 : poll_event::readable | poll_event::read_normal;
}

Handshake::~Handshake() { tcp_.timers.clear(*this); }

void Handshake::answer(Nanoseconds now) {
  if (answered_at != now) answered_at = Nanoseconds(-1);
  tcp_.send_syn_acknowledgment(listener, flow, syn_, sequence, timestamp_clock(now));
}

void Handshake::begin(Nanoseconds now) {
  answered_at = now;
  answer(now);
  tcp_.timers.set(*this, now + tcp_.settings.initial_timeout);
}

void Handshake::came_again(const Segment& again, Nanoseconds now) {
  syn_.timestamp = again.timestamp;
  if (tcp_.may_challenge(now)) answer(now);
}

void Handshake::expired(Nanoseconds now) {
  if (tries_ >= tcp_.settings.syn_acknowledgment_retries) {
    ++tcp_.table_counters_.handshakes_given_up;
    return tcp_.drop(*this);
  }
  ++tries_;
  ++tcp_.counters.retransmitted;
  answer(now);
  const Nanoseconds timeout = tcp_.settings.initial_timeout * (std::int64_t{1} << std::min<unsigned>(tries_, 30));
  tcp_.timers.set(*this, now + std::min(timeout, tcp_.settings.maximum_timeout));
}

void Tcp::arrived_at_listener(TcpListener& listener, const Incoming& incoming, std::optional<SequenceNumber> start) {
  const Segment& segment = incoming.segment;
  if (segment.has(TcpHeader::rst)) return;
  if (segment.has(TcpHeader::syn) && !segment.has(TcpHeader::ack)) {
    if (segment.has(TcpHeader::fin) && settings.drop_syn_fin) return;
    return begin_handshake(listener, incoming, start.value_or(initial_sequence(incoming.flow, incoming.now)));
  }
  if (!segment.has(TcpHeader::ack)) return;
  const bool may_be_cookie =
      !segment.has(TcpHeader::syn) && last_cookie_ && incoming.now - *last_cookie_ < seconds(128);
  std::optional<Segment> syn;
  if (may_be_cookie) syn = cookies_.check(incoming.flow, segment, timestamp_offset(incoming.flow), incoming.now);
  if (!syn.has_value()) {
    table_counters_.cookies_refused += may_be_cookie;
    return reset(incoming);
  }
  if (finish_handshake(listener, incoming, *syn, segment.acknowledgment - 1, Nanoseconds(-1)))
    ++table_counters_.cookies_received;
}

void Tcp::begin_handshake(TcpListener& listener, const Incoming& incoming, SequenceNumber sequence) {
  if (listener.is_full()) {
    ++table_counters_.listen_overflows;
    return;
  }
  Handshake* handshake = nullptr;
  if (listener.handshake_count_ <= listener.backlog_ && handshakes_.count() < settings.most_handshakes &&
      !machine.blocks().is_full()) {
    handshake = machine.blocks().make<Handshake>(*this, listener, incoming.flow, incoming.segment, sequence);
  }
  if (handshake == nullptr) return send_cookie(listener, incoming);
  handshakes_.insert(*handshake, incoming.hash);
  listener.handshakes_.push_back(*handshake);
  ++listener.handshake_count_;
  handshake->begin(incoming.now);
}

void Tcp::send_cookie(TcpListener& listener, const Incoming& incoming) {
  // What the ACK cannot bring back is not offered.
  Segment syn = incoming.segment;
  if (!syn.has_timestamp || !settings.timestamps) {
    syn.scale.reset();
    syn.may_select = false;
  }
  last_cookie_ = incoming.now;
  ++table_counters_.cookies_sent;
  send_syn_acknowledgment(listener, incoming.flow, syn, cookies_.make(incoming.flow, syn, incoming.now),
                          SynCookies::hide_options(timestamp_clock(incoming.now), syn));
}

void Tcp::arrived_in_handshake(Handshake& handshake, const Incoming& incoming) {
  const Segment& segment = incoming.segment;
  const Segment& syn = handshake.syn();
  const bool is_near = segment.sequence > syn.sequence && segment.sequence < syn.sequence + 65'536;  // in the window
  if (segment.has(TcpHeader::rst)) {
    if (segment.sequence == syn.sequence + 1 || (is_near && settings.insecure_reset)) {
      ++counters.failed_attempts;
      return drop(handshake);
    }
    return is_near ? challenge(handshake, incoming.now) : void();
  }
  if (segment.has(TcpHeader::syn)) {
    const bool is_same = segment.sequence == syn.sequence && !segment.has(TcpHeader::ack);
    return is_same ? handshake.came_again(segment, incoming.now) : challenge(handshake, incoming.now);
  }
  if (!segment.has(TcpHeader::ack)) return;
  const bool is_old = segment.has_timestamp && static_cast<std::int32_t>(segment.timestamp - syn.timestamp) < 0;
  if (!is_near || (is_old && syn.has_timestamp)) return challenge(handshake, incoming.now);
  if (segment.acknowledgment != handshake.sequence + 1) return reset(incoming);
  // Where too many wait, the ACK counts as lost: our next SYN-ACK brings another.
  if (finish_handshake(handshake.listener, incoming, syn, handshake.sequence, handshake.answered_at)) drop(handshake);
}

bool Tcp::finish_handshake(TcpListener& listener, const Incoming& incoming, const Segment& syn, SequenceNumber sequence,
                           Nanoseconds answered_at) {
  if (listener.is_full()) {
    ++table_counters_.listen_overflows;
    return false;
  }
  const Answer<Route> route = internet.route(incoming.flow.remote.address, incoming.flow.local.address);
  if (!route.ok()) return false;
  const TcpConnection::Start start{
      incoming.flow.local, incoming.flow.remote, route.value(), sequence, timestamp_offset(incoming.flow),
      listener.options,    answered_at};
  const Answer<Reference<TcpConnection>> made = TcpConnection::create(*this, start);
  if (!made.ok() || !ports_.add_flow(incoming.flow.local, listener.sharing).ok()) {
    ++counters.no_memory;
    return false;
  }
  TcpConnection& connection = *made.value();
  add(connection, listener.sharing, incoming.hash);
  finishing_ = &listener;
  connection.resume(syn, incoming.now);
  connection.segment_arrived(incoming.segment, std::move(incoming.packet), incoming.now);
  // It has become established, or closed; else the segment was not what finishes a handshake.
  const bool is_finished = finishing_ == nullptr;
  if (!is_finished) closed(connection, nullptr);
  return is_finished;
}

void Tcp::established(TcpConnection& connection) {
  TcpListener* const listener = std::exchange(finishing_, nullptr);
  if (listener == nullptr) return;
  listener->push(connection);
  listener->events_.changed(poll_event::readable | poll_event::read_normal);
}

void Tcp::drop(Handshake& handshake) {
  TcpListener& listener = handshake.listener;
  listener.handshakes_.remove(handshake);
  --listener.handshake_count_;
  handshakes_.remove(handshake);
  machine.blocks().destroy(handshake);
}

std::uint16_t Tcp::first_window(const TcpListener& listener) const {
  const std::uint32_t asked_for = listener.options.receive_buffer;
  const std::uint32_t window = asked_for != 0 ? asked_for : settings.receive_buffer;
  return static_cast<std::uint16_t>(std::min<std::uint32_t>(window, 65'535));
}

void Tcp::send_syn_acknowledgment(const TcpListener& listener, const Flow& flow, const Segment& syn,
                                  SequenceNumber sequence, std::uint32_t timestamp) {
  const Answer<Route> route = internet.route(flow.remote.address, flow.local.address);
  if (!route.ok()) return;
  const TcpOptions& options = listener.options;
  Segment answer = make_segment(flow, TcpHeader::syn | TcpHeader::ack, sequence, syn.sequence + 1);
  answer.window = first_window(listener);
  if (settings.offers_segment) {
    answer.maximum_segment = offered_segment(settings, route.value());
    if (options.maximum_segment != 0) {
      answer.maximum_segment = std::min(answer.maximum_segment, options.maximum_segment);
    }
    if (syn.scale.has_value() && settings.window_scaling) answer.scale = receive_scale(settings);
    answer.may_select = syn.may_select && settings.selective_acknowledgments;
    answer.has_timestamp = syn.has_timestamp && settings.timestamps;
  }
  answer.timestamp = timestamp + timestamp_offset(flow);
  answer.echo = syn.timestamp;
  const Travel travel{flow.local.address, flow.remote.address, Protocol::tcp, options.hop_limit, options.service};
  if (send_segment(internet, route.value(), travel, answer, settings.layout)) ++counters.sent;
}

void Tcp::challenge(const Handshake& handshake, Nanoseconds now) {
  if (!may_challenge(now)) return;
  const Segment& syn = handshake.syn();
  Segment answer = make_segment(handshake.flow, TcpHeader::ack, handshake.sequence + 1, syn.sequence + 1);
  const bool is_scaled = syn.scale.has_value() && settings.window_scaling;
  answer.window =
      static_cast<std::uint16_t>(first_window(handshake.listener) >> (is_scaled ? receive_scale(settings) : 0));
  answer.has_timestamp = syn.has_timestamp && settings.timestamps;
  answer.timestamp = timestamp_clock(now) + timestamp_offset(handshake.flow);
  answer.echo = syn.timestamp;
  send(handshake.flow, answer);
}

}  // namespace ingot::os::network
