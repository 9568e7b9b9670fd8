// Connections for tests: a clock that stands until it is told to go on, and an Internet between two hosts that loses,
// doubles, delays and reorders as it is told; or that keeps what one of them says, for a test that plays the other.
#pragma once

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <random>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include "os/network/tcp/connection.h"

namespace ingot::os::network {

inline void require(bool holds, std::source_location where = std::source_location::current()) {
  if (holds) return;
  std::fprintf(stderr, "%s:%u: what must hold does not\n", where.file_name(), where.line());
  std::abort();
}

// Refuses when told to, and does not end before everything has come back. (Fuzzers use it, who have no gtest.)
class TcpTestHeap final : public CountingAllocator {
 public:
  TcpTestHeap() : CountingAllocator(Poison::on) {}
  ~TcpTestHeap() { require(expect_no_leak().ok()); }
  int left = INT_MAX;  // allocations that still succeed

 private:
  void* take(std::size_t bytes, std::size_t alignment) override {
    if (left == 0) return nullptr;
    --left;
    return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  }
  void give_back(void* block, std::size_t, std::size_t) override { std::free(block); }
};

class TestMachine final : public Machine {
 public:
  static constexpr Nanoseconds never{INT64_MAX};

  Nanoseconds now() override { return time; }
  void fill_random(std::span<std::byte> bytes) override { std::fill(bytes.begin(), bytes.end(), std::byte{7}); }
  HeapBlocks& blocks() override { return its_blocks; }
  void wake_at(Nanoseconds wanted) override { wake = std::min(wake, wanted); }

  Nanoseconds time = seconds(1000), wake = never;
  TcpTestHeap heap;
  HeapBlocks its_blocks{heap};
};

struct TestLink final : Link {
  const LinkProperties& properties() const override { return its_properties; }
  bool is_up() const override { return true; }
  bool send(const Outgoing&) override { return true; }
  void flush() override {}
  LinkProperties its_properties{.name = "test"};
};

using TestPacket = std::vector<std::byte>;  // from TCP's header on

// As a device that computes checksums and cuts would put it on the wire.
inline std::vector<TestPacket> on_the_wire(const Travel& travel, Outgoing& packet) {
  TestPacket payload(packet.payload_bytes);
  if (!payload.empty()) packet.chain->copy_out(packet.payload_begin, payload);
  const std::size_t each = packet.segment_bytes != 0 ? packet.segment_bytes : std::max<std::size_t>(payload.size(), 1);
  std::vector<TestPacket> packets;
  for (std::size_t at = 0; at == 0 || at < payload.size(); at += each) {
    const std::size_t count = std::min(each, payload.size() - at);
    TestPacket& bytes = packets.emplace_back(packet.header().begin(), packet.header().end());
    bytes.insert(bytes.end(), payload.begin() + static_cast<std::ptrdiff_t>(at),
                 payload.begin() + static_cast<std::ptrdiff_t>(at + count));
    auto& header = *reinterpret_cast<TcpHeader*>(bytes.data());
    header.sequence = header.sequence + static_cast<std::uint32_t>(at);
    if (at + count < payload.size()) header.flags &= static_cast<std::uint8_t>(~(TcpHeader::fin | TcpHeader::psh));
    if (packet.checksum_from_end == 0) continue;
    header.checksum = 0;
    Checksum sum = pseudo_header(travel.from, travel.to, Protocol::tcp, static_cast<std::uint32_t>(bytes.size()));
    sum.add(bytes);
    header.checksum = sum.result();
  }
  return packets;
}

struct TestEvents final : SocketEvents {
  void changed(std::uint32_t events) override { told |= events, ++times; }
  std::uint32_t told = 0, times = 0;
};

// One end: an Internet and a table for a single connection.
class TestHost final : public Internet, public TcpHost {
 public:
  TestHost(TestMachine& its_machine, NetworkTimers& its_timers, std::uint8_t number)
      : TcpHost(its_machine, *this, its_timers, its_settings), address(IpAddress::v4(192, 0, 2, number)) {}

  Route route_now() { return {&link, address, {}, link.its_properties.mtu, version}; }
  Answer<Route> route(const IpAddress&, const IpAddress&) override { return route_now(); }
  std::uint32_t route_version() const override { return version; }
  bool send(const Route&, const Travel& travel, Outgoing& packet) override {
    if (!has_room) return false;
    for (TestPacket& bytes : on_the_wire(travel, packet)) sent(std::move(bytes));
    return true;
  }
  bool is_ours(const IpAddress& wanted) const override { return wanted == address; }
  void refuse_port(const Arrival&, std::span<const std::byte>) override {}

  void established(TcpConnection&) override { ++established_count; }
  void closed(TcpConnection&, const TcpRemains* what) override {
    ++closed_count;
    if (what != nullptr) remains = *what, has_remains = true;
    connection.reset();
  }
  void send_later(TcpConnection&) override { is_pending = true; }
  void send_when_room(TcpConnection&) override { waits_for_room = true; }

  TcpConnection::Start start(const TestHost& peer, std::uint32_t sequence, Nanoseconds answered_at) {
    TcpConnection::Start start;
    start.local = {address, port};
    start.remote = {peer.address, peer.port};
    start.route = route_now();
    start.sequence = SequenceNumber(sequence);
    start.options = options;
    start.answered_at = answered_at;
    return start;
  }
  Answer<void> make(const TestHost& peer, std::uint32_t sequence, Nanoseconds answered_at = Nanoseconds(-1)) {
    Answer<Reference<TcpConnection>> made = TcpConnection::create(*this, start(peer, sequence, answered_at));
    if (!made.ok()) return made.error();
    connection = made.value();
    socket = std::move(made).value();
    socket->set_events(&events);
    return {};
  }
  void flush() {
    while (std::exchange(is_pending, false) && connection) {
      const Reference<TcpConnection> held = connection;
      held->send_pending(machine.now());
    }
  }

  TcpSettings its_settings;
  TcpOptions options;
  TestLink link;
  IpAddress address;
  std::uint16_t port = 4000;
  std::uint32_t version = 1;
  bool has_room = true, is_pending = false, waits_for_room = false, has_remains = false;
  int established_count = 0, closed_count = 0;
  TcpRemains remains;
  std::function<void(TestPacket&&)> sent;
  TestEvents events;
  Reference<TcpConnection> connection;  // the table's
  Reference<TcpConnection> socket;      // the program's
};

// A device brings the memory of what it receives: it is there, however little is left for others.
inline Received received_from(TestMachine& machine, std::span<const std::byte> bytes) {
  const int left = std::exchange(machine.heap.left, INT_MAX);
  ByteChain chain(machine.its_blocks);
  Reference<Block> block = machine.its_blocks.create(std::max<std::size_t>(bytes.size(), 1)).value();
  const std::span<std::byte> room = block->bytes().first(bytes.size());
  std::copy(bytes.begin(), bytes.end(), room.begin());
  chain.add(std::move(block), room).value();
  machine.heap.left = left;
  return Received(std::move(chain));
}

// Looks inside.
class TcpInspector {
 public:
  // What holds between any two calls.
  static void check(TcpConnection& connection) {
    TcpConnection& it = connection;
    const std::uint32_t limit = it.receive_limit_;
    require(it.unacknowledged_ <= it.next_ && it.next_ <= it.write_end_ + 1);
    require(it.scoreboard_.bytes() <= it.next_.since(it.unacknowledged_));
    require(it.receive_.in_order().bytes() <= limit + 65536);
    require(it.receive_.held_bytes() <= TcpConnection::held_for(limit) + 2 * TcpConnection::held_slack);
    if (it.state_ == TcpState::closed) {
      require(!it.is_set() && it.send_.is_empty() && !it.receive_.has_early());
      return;
    }
    require(it.next_ == it.unacknowledged_ || it.retransmit_at_ != TcpConnection::never);
    if (it.is_handshaking()) return;
    require(it.unacknowledged_ <= it.lost_until_ && it.lost_until_ <= it.next_);
    require(it.in_flight() <= it.next_.since(it.unacknowledged_));
    require(it.congestion_.window() >= it.segment_bytes());
    require(it.unacknowledged_ > it.write_end_ || it.chain_begin() == it.unacknowledged_);
  }
};

// A connection whose peer is the test: it says what it likes, and looks at what it hears. Numbers are counted from the
// SYNs, as packetdrill does.
class PlayedPeer {
 public:
  static constexpr std::uint32_t our_start = 0xfffffff0, peer_start = 0x7ffffff0;  // both wrap soon

  static constexpr std::uint8_t fin = TcpHeader::fin, syn = TcpHeader::syn, rst = TcpHeader::rst, ack = TcpHeader::ack;

  static std::string letters(std::size_t count) {
    std::string text(count, '\0');
    for (std::size_t i = 0; i < count; ++i) text[i] = static_cast<char>('a' + i % 26);
    return text;
  }

  struct Heard : Segment {
    std::string payload;
    std::uint32_t at = 0, acknowledges = 0;  // relative
  };

  PlayedPeer() {
    host.sent = [this](TestPacket&& bytes) { heard.push_back(parse(bytes)); };
    peer.port = 80;
    host.its_settings.quick_acknowledgments = 0;
  }
  ~PlayedPeer() {
    if (host.socket) host.socket->abort(Errno{}, machine.time);
    host.socket.reset();
    host.connection.reset();
  }

  Heard parse(std::span<const std::byte> bytes) {
    Received packet = received_from(machine, bytes);
    const Arrival arrival{.from = host.address, .to = peer.address, .protocol = Protocol::tcp};
    Heard what;
    const std::optional<Segment> segment = take_segment(arrival, packet);
    require(segment.has_value());
    static_cast<Segment&>(what) = *segment;
    what.payload.resize(packet.bytes.bytes());
    if (!what.payload.empty()) packet.bytes.copy_out(0, std::as_writable_bytes(std::span(what.payload)));
    what.at = segment->sequence.value() - our_start;
    what.acknowledges = segment->acknowledgment.value() - peer_start;
    return what;
  }
  Segment segment(std::uint8_t flags, std::uint32_t at, std::uint32_t acknowledges, std::uint16_t window = 32767) {
    Segment segment;
    segment.source = peer.port;
    segment.destination = host.port;
    segment.flags = flags;
    segment.sequence = SequenceNumber(peer_start + at);
    segment.acknowledgment = SequenceNumber((flags & TcpHeader::ack) != 0 ? our_start + acknowledges : 0);
    segment.window = window;
    return segment;
  }
  void say(Segment segment, std::string_view payload = {}) {
    segment.payload_bytes = static_cast<std::uint32_t>(payload.size());
    const Reference<TcpConnection> held = host.connection;
    if (!held) return;
    held->segment_arrived(segment, received_from(machine, std::as_bytes(std::span(payload))), machine.time);
    host.flush();
  }
  void say(std::uint8_t flags, std::uint32_t at, std::uint32_t acknowledges, std::string_view payload = {}) {
    say(segment(flags, at, acknowledges), payload);
  }
  Segment first(std::uint8_t flags = TcpHeader::syn) {
    Segment first = segment(flags, 0, 1);
    first.maximum_segment = 1460;
    first.may_select = selects;
    first.has_timestamp = has_timestamps;
    first.timestamp = 5000;
    if (scale >= 0) first.scale = static_cast<std::uint8_t>(scale);
    return first;
  }
  void begin_connecting() {
    require(host.make(peer, our_start).ok());
    host.connection->connect(machine.time);
  }
  // As the table does when the ACK of a handshake comes.
  void finish_handshake() {
    host.connection->resume(first(), machine.time);
    say(acknowledgment(1, 1));
  }
  void accept() {
    const Nanoseconds answered_at = machine.time;
    advance(milliseconds(round_trip));
    require(host.make(peer, our_start, answered_at).ok());
    finish_handshake();
    heard.clear();
  }
  Segment acknowledgment(std::uint32_t at, std::uint32_t acknowledges, std::uint16_t window = 32767) {
    Segment plain = segment(TcpHeader::ack, at, acknowledges, window);
    plain.has_timestamp = has_timestamps;
    plain.timestamp = 5000 + timestamp_clock(machine.time - seconds(1000));
    plain.echo = timestamp_clock(machine.time) - static_cast<std::uint32_t>(round_trip);
    return plain;
  }
  Segment with_ranges(Segment segment, std::initializer_list<std::pair<std::uint32_t, std::uint32_t>> ranges) {
    for (const auto& [begin, end] : ranges) {
      segment.ranges[segment.range_count++] = {SequenceNumber(our_start + begin), SequenceNumber(our_start + end)};
    }
    return segment;
  }
  Answer<std::size_t> write(std::string_view text, bool more = false) {
    KernelTransfer from(std::as_bytes(std::span(text)));
    return host.socket->send(from, more, machine.time);
  }
  std::string read(std::size_t most = 1 << 20) {
    std::string room(most, '\0');
    KernelTransfer to(std::as_bytes(std::span(room)));
    const Answer<std::size_t> got = host.socket->receive(to, Reading::takes, machine.time);
    room.resize(got.ok() ? got.value() : 0);
    return room;
  }
  void advance(Nanoseconds by) {
    const Nanoseconds end = machine.time + by;
    while (machine.wake <= end) {
      machine.time = std::max(machine.time, std::exchange(machine.wake, TestMachine::never));
      timers.run(machine.time);
      host.flush();
    }
    machine.time = end;
  }
  // What was heard since, as text: flags, begin:end(bytes), ack.
  std::string take_heard() {
    std::string text;
    for (const Heard& what : std::exchange(heard, {})) {
      if (!text.empty()) text += "; ";
      for (const auto& [flag, letter] :
           {std::pair(TcpHeader::syn, 'S'), std::pair(TcpHeader::fin, 'F'), std::pair(TcpHeader::rst, 'R'),
            std::pair(TcpHeader::psh, 'P'), std::pair(TcpHeader::ack, '.')}) {
        if (what.has(flag)) text += letter;
      }
      text += " " + std::to_string(what.at) + "(" + std::to_string(what.payload.size()) + ")";
      if (what.has(TcpHeader::ack)) text += " ack " + std::to_string(what.acknowledges);
      for (std::size_t i = 0; i < what.range_count; ++i) {
        text += " " + std::to_string(what.ranges[i].begin.value() - peer_start) + ":" +
                std::to_string(what.ranges[i].end.value() - peer_start);
      }
    }
    return text;
  }
  TcpState state() const { return host.socket->state(); }

  TestMachine machine;
  NetworkTimers timers{machine};
  TestHost host{machine, timers, 1}, peer{machine, timers, 2};
  std::vector<Heard> heard;
  bool selects = true, has_timestamps = false;
  int scale = -1;
  std::int64_t round_trip = 100;  // milliseconds
};

}  // namespace ingot::os::network
