#include "os/network/tcp/tcp.h"

#include <map>
#include <set>
#include <vector>

#include "os/file/poll.h"
#include "os/network/tcp/tcp_table_fixture.h"

namespace ingot::os::network {
namespace {

class TcpTest : public TcpTableFixture {};

TEST_F(TcpTest, AClientIsAcceptedAndBothTalk) {
  Owned<TcpListener> listener = listen(5, {IpAddress(), 80});
  EXPECT_EQ(listener->accept().error(), Errno::eagain);
  const Reference<TcpConnection> client = connect().value();
  exchange();
  EXPECT_EQ(client->state(), TcpState::established);
  EXPECT_TRUE((events_.told & listener->events() & poll_event::readable) != 0);
  const Reference<TcpConnection> served = listener->accept().value();
  EXPECT_EQ(listener->events(), 0u);
  EXPECT_EQ(served->remote(), client->local());
  EXPECT_TRUE(served->info(machine_.time).has_selective && served->info(machine_.time).has_scaling);
  EXPECT_EQ(send(*client, "question"), 8);
  client_.tcp.send_pending(machine_.time);
  exchange();
  EXPECT_EQ(receive(*served), "question");
  EXPECT_EQ(send(*served, "answer"), 6);
  server_.tcp.send_pending(machine_.time);
  exchange();
  EXPECT_EQ(receive(*client), "answer");
  client->close(machine_.time);
  client_.tcp.send_pending(machine_.time);
  exchange();
  EXPECT_EQ(receive(*served), "");
  served->close(machine_.time);
  server_.tcp.send_pending(machine_.time);
  exchange();
  EXPECT_EQ(client_.tcp.time_wait_count(), 1u) << "who closes first waits";
  EXPECT_EQ(server_.tcp.connection_count() + server_.tcp.time_wait_count() + client_.tcp.connection_count(), 0u);
  advance(seconds(61));
  EXPECT_EQ(client_.tcp.time_wait_count(), 0u);
}

TEST_F(TcpTest, RefusalsFindWhomTheyConcern) {
  Owned<TcpListener> listener = listen(5);
  arrive({client_address, 1000}, make_syn(1));
  const std::uint32_t ours = answer().value().sequence.value();
  Refusal refusal{Refusal::Kind::unreachable_host, server_address, client_address, 0, 80, 1000, ours + 1};
  server_.tcp.refused(refusal);
  EXPECT_EQ(server_.tcp.handshake_count(), 1u) << "a stranger who guesses";
  refusal.sequence = ours;
  server_.tcp.refused(refusal);
  EXPECT_EQ(server_.tcp.handshake_count(), 0u);

  const Reference<TcpConnection> client = connect({server_address, 81}).value();
  const SentPacket opening = client_.internet.take();
  const std::uint32_t sequence = reinterpret_cast<const TcpHeader*>(opening.bytes.data())->sequence;
  client_.tcp.refused(
      {Refusal::Kind::unreachable_port, client_address, server_address, 0, client->local().port, 81, sequence});
  EXPECT_EQ(client->take_error(), Errno::econnrefused);
}

TEST_F(TcpTest, NobodysSegmentsAreResetWithinARate) {
  arrive({client_address, 1000}, make_syn(7));
  const Segment reset = answer().value();
  EXPECT_EQ(reset.flags, TcpHeader::rst | TcpHeader::ack);
  EXPECT_EQ(reset.acknowledgment, SequenceNumber(8));
  arrive({client_address, 1000}, make_segment(TcpHeader::rst, 7));
  EXPECT_FALSE(answer().has_value());
  for (std::uint32_t i = 0; i < 3000; ++i) arrive({client_address, 1000}, make_segment(TcpHeader::ack, i, i));
  EXPECT_EQ(server_.internet.sent.size(), 999u);
  EXPECT_EQ(server_.tcp.table_counters().resets_withheld, 2001u);
  server_.internet.sent.clear();
  const IpAddress loopback = or_loopback(IpAddress());
  for (std::uint32_t i = 0; i < 3000; ++i) arrive({loopback, 1000}, make_segment(TcpHeader::ack, i, i), {loopback, 80});
  EXPECT_EQ(server_.internet.sent.size(), 3000u) << "this machine's own programs are no strangers";
  const std::vector<std::byte> nonsense(19);
  server_.tcp.received({client_address, server_address, Protocol::tcp}, make_received(machine_.blocks(), nonsense));
  EXPECT_EQ(server_.tcp.counters.received_wrong, 1u);
}

// From a count that they share a stranger would learn by his own connection what was asked of another's.
TEST_F(TcpTest, ChallengesOfOneConnectionAreNoneOfAnothers) {
  Owned<TcpListener> listener = listen(5);
  for (const std::uint16_t port : {1000, 1001}) shake_hands({client_address, port}, 1);
  for (int i = 0; i < 3000; ++i) arrive({client_address, 1000}, make_segment(TcpHeader::rst, 100));
  EXPECT_EQ(server_.internet.sent.size(), server_.settings.answers_per_second);
  server_.internet.sent.clear();
  arrive({client_address, 1001}, make_segment(TcpHeader::rst, 100));
  EXPECT_EQ(answer().value().flags, TcpHeader::ack);
}

TEST_F(TcpTest, HostilePortsMakeNoLongChains) {
  Owned<TcpListener> listener = listen(5);
  std::vector<Reference<TcpConnection>> accepted;
  for (std::uint32_t i = 0; i < 20'000; ++i) {
    const IpAddress from = IpAddress::v4(10, 0, static_cast<std::uint8_t>(i >> 8), static_cast<std::uint8_t>(i));
    shake_hands({from, static_cast<std::uint16_t>(i << 8 | 1)}, i);
    accepted.push_back(std::move(listener->accept()).value());
  }
  EXPECT_EQ(server_.tcp.connection_count(), 20'000u);
  EXPECT_LT(server_.tcp.longest_chain(), 12u);
}

TEST_F(TcpTest, ALocalPortServesSeveralRemoteEnds) {
  std::deque<Binding> taken;
  for (std::uint32_t port = PortTable::first_ephemeral; port < PortTable::last_ephemeral; ++port) {
    ASSERT_TRUE(client_.tcp.ports()
                    .bind(taken.emplace_back(IpVersion::v4), {client_address, static_cast<std::uint16_t>(port)})
                    .ok());
  }
  const Reference<TcpConnection> first = connect({server_address, 80}).value();
  const Reference<TcpConnection> second = connect({server_address, 81}).value();
  EXPECT_EQ(first->local().port, PortTable::last_ephemeral);
  EXPECT_EQ(second->local().port, PortTable::last_ephemeral);
  EXPECT_EQ(connect({server_address, 80}).error(), Errno::eaddrnotavail);
  for (Binding& binding : taken) client_.tcp.ports().release(binding);
  EXPECT_TRUE(connect({server_address, 80}).ok());
}

TEST_F(TcpTest, ConnectAnswersAsLinux) {
  EXPECT_EQ(connect({IpAddress::v4(224, 0, 0, 1), 80}).error(), Errno::enetunreach);
  client_.internet.no_route = server_address;
  EXPECT_EQ(connect().error(), Errno::enetunreach);
  client_.internet.no_route = IpAddress();
  Binding dual(IpVersion::v6);
  dual.v6_only = true;
  EXPECT_EQ(client_.tcp.connect(dual, server_end, {}, client_events_, machine_.time).error(), Errno::enetunreach);
  dual.v6_only = false;
  EXPECT_TRUE(client_.tcp.connect(dual, server_end, {}, client_events_, machine_.time).ok());
  const Reference<TcpConnection> first = connect(server_end, 5000).value();
  Binding again(IpVersion::v4);
  EXPECT_EQ(client_.tcp.ports().bind(again, {client_address, 5000}).error(), Errno::eaddrinuse)
      << "it is a connection's";
}

TEST_F(TcpTest, APortMayConnectToItself) {
  Binding binding(IpVersion::v4);
  const Endpoint end{client_address, 5000};
  ASSERT_TRUE(client_.tcp.ports().bind(binding, end).ok());
  const Reference<TcpConnection> both = client_.tcp.connect(binding, end, {}, client_events_, machine_.time).value();
  hand_over(client_, client_);
  ASSERT_EQ(both->state(), TcpState::established);
  EXPECT_EQ(send(*both, "to myself"), 9);
  client_.tcp.send_pending(machine_.time);
  hand_over(client_, client_);
  EXPECT_EQ(receive(*both), "to myself");
}

TEST_F(TcpTest, InitialNumbersGrowWithTimeAndTellNothingOfOthers) {
  std::set<std::uint32_t> differences;
  std::uint32_t before = 0;
  for (std::uint16_t port = 5000; port < 5100; ++port) {
    const Reference<TcpConnection> client = connect(server_end, port).value();
    const std::uint32_t sequence = reinterpret_cast<const TcpHeader*>(client_.internet.take().bytes.data())->sequence;
    differences.insert((sequence - before) >> 24);
    before = sequence;
    client->abort(Errno::econnreset, machine_.time);
    client_.internet.sent.clear();
    advance(milliseconds(100));
    const Reference<TcpConnection> later = connect(server_end, port).value();
    const std::uint32_t next = reinterpret_cast<const TcpHeader*>(client_.internet.take().bytes.data())->sequence;
    EXPECT_EQ(next - sequence, 25'000u) << "RFC 6528: one in 4 microseconds";
    later->abort(Errno::econnreset, machine_.time);
    client_.internet.sent.clear();
  }
  EXPECT_GT(differences.size(), 40u);
}

TEST_F(TcpTest, WhatFindsNoRoomGoesOutWhenThereIsSome) {
  Owned<TcpListener> listener = listen(5);
  shake_hands({client_address, 1000}, 1);
  const Reference<TcpConnection> served = listener->accept().value();
  server_.internet.sent.clear();
  server_.internet.has_room = false;
  EXPECT_EQ(send(*served, "late"), 4);
  server_.tcp.send_pending(machine_.time);
  EXPECT_TRUE(server_.internet.sent.empty());
  server_.internet.has_room = true;
  server_.tcp.link_changed(machine_.time);
  EXPECT_EQ(answer().value().payload_bytes, 4u);
}

TEST_F(TcpTest, WhatWaitsForRoomMayEnd) {
  Owned<TcpListener> listener = listen(5);
  shake_hands({client_address, 1000}, 1);
  Reference<TcpConnection> served = listener->accept().value();
  server_.internet.has_room = false;
  EXPECT_EQ(send(*served, "never"), 5);
  server_.tcp.send_pending(machine_.time);
  arrive({client_address, 1000}, make_segment(TcpHeader::rst, 2));
  served.reset();
  server_.internet.has_room = true;
  server_.internet.sent.clear();
  server_.tcp.link_changed(machine_.time);
  EXPECT_FALSE(answer().has_value());
}

TEST_F(TcpTest, EveryStateHasItsRow) {
  Owned<TcpListener> listener = listen(5);
  const SequenceNumber ours = shake_hands({client_address, 1000}, 1);
  shake_hands({client_address, 1001}, 1);
  const Reference<TcpConnection> gone = listener->accept().value();
  close_by_server({client_address, 1000}, *gone, ours, 2);
  arrive({client_address, 1002}, make_syn(1));
  std::map<TcpState, TcpRow> rows;
  server_.tcp.visit([&](const TcpRow& row) { rows[row.state] = row; });
  EXPECT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[TcpState::listen].flow.local, server_end);
  EXPECT_EQ(rows[TcpState::listen].to_read, 1u);
  EXPECT_EQ(rows[TcpState::established].flow.remote.port, 1001);
  EXPECT_EQ(rows[TcpState::syn_received].flow.remote.port, 1002);
  EXPECT_EQ(rows[TcpState::time_wait].flow.remote.port, 1000);
}

// After memory has come back, what was lost meanwhile is made up for by sending again.
TEST_F(TcpTest, EveryAllocationMayFail) {
  for (int left = 0; left < 60; ++left) {
    Owned<TcpListener> listener = listen(5);
    const std::uint16_t port = static_cast<std::uint16_t>(5000 + left);
    machine_.heap.left = left;
    Answer<Reference<TcpConnection>> client = connect(server_end, port);
    if (client.ok()) {
      exchange();
      send(*client.value(), "question");
      client_.tcp.send_pending(machine_.time);
      exchange();
    }
    machine_.heap.left = INT_MAX;
    if (!client.ok()) continue;
    // Where the handshake was a cookie and its ACK was lost, the next thing that the client says brings it back.
    send(*client.value(), "more");
    client_.tcp.send_pending(machine_.time);
    for (int second = 0; second < 10; ++second) {
      advance(seconds(1));
      exchange();
    }
    ASSERT_EQ(client.value()->state(), TcpState::established) << left;
    const Reference<TcpConnection> served = std::move(listener->accept()).value();
    client.value()->close(machine_.time);
    served->close(machine_.time);
    advance(seconds(1));
    exchange();
  }
  advance(seconds(200));
  exchange();
  EXPECT_EQ(server_.tcp.connection_count() + client_.tcp.connection_count(), 0u);
  EXPECT_EQ(server_.tcp.time_wait_count() + client_.tcp.time_wait_count(), 0u);
}

TEST_F(TcpTest, RandomSegmentsDoNoHarm) {
  Owned<TcpListener> listener = listen(20);
  std::mt19937& random = machine_.random;
  for (int i = 0; i < 50'000; ++i) {
    Endpoint from{client_address, static_cast<std::uint16_t>(1000 + random() % 40)};
    Segment segment = make_segment(static_cast<std::uint8_t>(random() % 64), random() % 4, random() % 4);
    if (random() % 2 == 0 && !server_.internet.sent.empty()) {
      const std::optional<Segment> last = answer();
      from.port = last->destination;
      segment.acknowledgment = last->sequence + (1 + random() % 3);
      segment.sequence = last->acknowledgment + random() % 3;
    }
    segment.has_timestamp = random() % 2 == 0;
    segment.timestamp = random() % 8;
    arrive(from, segment);
    if (random() % 8 == 0) {
      Answer<Reference<TcpConnection>> accepted = listener->accept();
      if (accepted.ok()) accepted.value()->close(machine_.time);
    }
    if (random() % 64 == 0) advance(milliseconds(random() % 3000));
    if (server_.internet.sent.size() > 10) server_.internet.sent.clear();
  }
  EXPECT_GT(server_.tcp.counters.passive_opens, 100u);
  EXPECT_LE(server_.tcp.connection_count() + server_.tcp.handshake_count() + server_.tcp.time_wait_count(), 200u);
}

}  // namespace
}  // namespace ingot::os::network
