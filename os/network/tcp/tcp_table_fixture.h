// Tcp with a network of its own, and peers that send whatever a test wants.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "os/network/fake_internet.h"
#include "os/network/tcp/tcp.h"

namespace ingot::os::network {

// One machine of several that share a clock and a heap.
struct TcpPeerHost {
  TcpPeerHost(FakeMachine& machine, std::initializer_list<IpAddress> addresses, TcpSettings its_settings = {})
      : settings(its_settings), timers(machine), tcp(machine, internet, timers, settings) {
    internet.ours = addresses;
  }

  TcpSettings settings;
  FakeInternet internet;
  NetworkTimers timers;
  Tcp tcp;
};

class TcpTableFixture : public ::testing::Test {
 protected:
  static constexpr IpAddress server_address = IpAddress::v4(192, 0, 2, 1), client_address = IpAddress::v4(192, 0, 2, 2);
  static constexpr Endpoint server_end{server_address, 80};

  // Time goes on, and timers run as they become due.
  void advance(Nanoseconds by) {
    const Nanoseconds end = machine_.time + by;
    while (machine_.wake <= end) {
      machine_.time = std::max(machine_.time, std::exchange(machine_.wake, FakeMachine::never));
      server_.timers.run(machine_.time);
      client_.timers.run(machine_.time);
    }
    machine_.time = end;
  }
  // Everything that is under way arrives, and what that makes them send, too.
  void exchange() {
    for (int round = 0; round < 10'000 && !(server_.internet.sent.empty() && client_.internet.sent.empty()); ++round) {
      hand_over(server_, client_);
      hand_over(client_, server_);
    }
  }
  void hand_over(TcpPeerHost& from, TcpPeerHost& to) {
    while (!from.internet.sent.empty()) {
      const SentPacket packet = from.internet.take();
      // What a test refuses is the memory of the logic, not that of the packets.
      const int left = std::exchange(machine_.heap.left, INT_MAX);
      Received received = make_received(machine_.blocks(), packet.bytes);
      machine_.heap.left = left;
      if (packet.travel.to == to.internet.ours[0]) {
        to.tcp.received({packet.travel.from, packet.travel.to, Protocol::tcp}, std::move(received));
      }
    }
    to.tcp.send_pending(machine_.time);
  }

  // A segment from anybody to the server.
  void arrive(const Endpoint& from, Segment segment, const Endpoint& to = server_end) {
    segment.source = from.port;
    segment.destination = to.port;
    FakeInternet wire;
    wire.ours = {from.address};
    const Route route{&wire.link, from.address, to.address, 1500, 0, false};
    ASSERT_TRUE(send_segment(wire, route, {from.address, to.address, Protocol::tcp}, segment, {}));
    deliver(wire.take(), machine_.blocks(), server_.tcp);
    server_.tcp.send_pending(machine_.time);
  }
  static Segment make_segment(std::uint8_t flags, std::uint32_t sequence, std::uint32_t acknowledgment = 0) {
    Segment segment;
    segment.flags = flags;
    segment.sequence = SequenceNumber(sequence);
    segment.acknowledgment = SequenceNumber(acknowledgment);
    segment.window = 65'535;
    return segment;
  }
  static Segment make_syn(std::uint32_t sequence) {
    Segment opening = make_segment(TcpHeader::syn, sequence);
    opening.maximum_segment = 1460;
    return opening;
  }
  // What the server has sent since it was asked; nothing: it was silent.
  std::optional<Segment> answer() {
    if (server_.internet.sent.empty()) return {};
    const SentPacket packet = server_.internet.take();
    Received received = make_received(machine_.blocks(), packet.bytes);
    return take_segment({packet.travel.from, packet.travel.to, Protocol::tcp}, received);
  }
  // A peer's whole handshake; our sequence number behind the SYN.
  SequenceNumber shake_hands(const Endpoint& from, std::uint32_t sequence, bool has_timestamps = false) {
    Segment opening = make_syn(sequence);
    opening.has_timestamp = has_timestamps;
    opening.timestamp = 1000;
    arrive(from, opening);
    const std::optional<Segment> answered = answer();
    if (!answered.has_value()) return {};
    Segment acknowledgment = make_segment(TcpHeader::ack, sequence + 1, answered->sequence.value() + 1);
    acknowledgment.has_timestamp = has_timestamps;
    acknowledgment.timestamp = 1001;
    acknowledgment.echo = answered->timestamp;
    arrive(from, acknowledgment);
    return answered->sequence + 1;
  }

  Owned<TcpListener> listen(std::uint32_t backlog, const Endpoint& at = server_end, PortSharing sharing = {}) {
    Binding binding(at.address.version());
    binding.sharing = sharing;
    EXPECT_TRUE(server_.tcp.ports().bind(binding, at).ok());
    return std::move(server_.tcp.listen(binding, backlog, {}, events_)).value();
  }
  Answer<Reference<TcpConnection>> connect(const Endpoint& to = server_end, std::uint16_t port = 0,
                                           const TcpOptions& options = {}) {
    Binding binding(to.address.version());
    EXPECT_TRUE(port == 0 || client_.tcp.ports().bind(binding, {client_address, port}).ok());
    Answer<Reference<TcpConnection>> made = client_.tcp.connect(binding, to, options, client_events_, machine_.time);
    client_.tcp.ports().release(binding);
    return made;
  }
  int send(TcpConnection& connection, const std::string& text) {
    KernelTransfer transfer(std::as_bytes(std::span(text)));
    const Answer<std::size_t> sent = connection.send(transfer, false, machine_.time);
    return sent.ok() ? static_cast<int>(sent.value()) : -static_cast<int>(sent.error());
  }
  std::string receive(TcpConnection& connection) {
    std::string text(1000, '.');
    KernelTransfer transfer(std::as_bytes(std::span(text)));
    const Answer<std::size_t> received = connection.receive(transfer, Reading::takes, machine_.time);
    return received.ok() ? text.substr(0, received.value()) : std::string(name_of(received.error()));
  }
  // The server closes first, so that it is the one that waits.
  void close_by_server(const Endpoint& from, TcpConnection& connection, SequenceNumber ours, std::uint32_t theirs,
                       bool has_timestamps = false) {
    connection.close(machine_.time);
    server_.tcp.send_pending(machine_.time);
    Segment last = make_segment(TcpHeader::fin | TcpHeader::ack, theirs, ours.value() + 1);
    last.has_timestamp = has_timestamps;
    last.timestamp = 1002;
    arrive(from, last);
    server_.internet.sent.clear();
  }

  FakeMachine machine_;
  TcpPeerHost server_{machine_, {server_address, or_loopback(IpAddress())}}, client_{machine_, {client_address}};
  EventRecorder events_, client_events_;
};

}  // namespace ingot::os::network
