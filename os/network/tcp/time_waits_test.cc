#include "os/network/tcp/time_waits.h"

#include <optional>
#include <set>

#include "os/network/tcp/tcp_table_fixture.h"

namespace ingot::os::network {
namespace {

class TimeWaitsTest : public TcpTableFixture {
 protected:
  // One connection from beginning to end; the server's number behind its FIN.
  SequenceNumber live_and_die(std::uint16_t port, std::uint32_t sequence, bool has_timestamps = false) {
    const SequenceNumber ours = shake_hands({client_address, port}, sequence, has_timestamps);
    const Reference<TcpConnection> served = std::move(listener_->accept()).value();
    close_by_server({client_address, port}, *served, ours, sequence + 1, has_timestamps);
    return ours + 1;
  }

  Owned<TcpListener> listener_ = listen(5, server_end, {true, false});
  const Endpoint peer_{client_address, 1000};
};

TEST_F(TimeWaitsTest, AnswerTheLastFinAgainAndEndInTime) {
  const SequenceNumber ours = live_and_die(1000, 10);
  ASSERT_EQ(server_.tcp.time_wait_count(), 1u);
  EXPECT_EQ(server_.tcp.connection_count(), 0u);
  advance(seconds(40));
  arrive(peer_, make_segment(TcpHeader::fin | TcpHeader::ack, 11, ours.value()));
  const Segment answered = answer().value();
  EXPECT_EQ(answered.flags, TcpHeader::ack);
  EXPECT_EQ(answered.sequence, ours);
  EXPECT_EQ(answered.acknowledgment, SequenceNumber(12));
  advance(seconds(59));
  EXPECT_EQ(server_.tcp.time_wait_count(), 1u) << "the time has begun anew";
  advance(seconds(2));
  EXPECT_EQ(server_.tcp.time_wait_count(), 0u);
}

// RFC 9293 3.10.7.4: what restarts the time is the last FIN, as it was.
TEST_F(TimeWaitsTest, NoOtherSegmentBeginsTheirTimeAnew) {
  const SequenceNumber ours = live_and_die(1000, 10, true);
  advance(seconds(40));
  Segment last = make_segment(TcpHeader::fin | TcpHeader::ack, 11, ours.value());
  last.has_timestamp = true;
  last.timestamp = 1000;
  arrive(peer_, last);  // from before
  last.timestamp = 1002;
  last.sequence += 7;
  arrive(peer_, last);  // elsewhere
  last = make_segment(TcpHeader::fin | TcpHeader::ack, 11, ours.value() - 1);
  arrive(peer_, last);  // of what it does not say
  EXPECT_EQ(server_.internet.sent.size(), 3u) << "each is told where we are";
  advance(seconds(21));
  EXPECT_EQ(server_.tcp.time_wait_count(), 0u);
}

TEST_F(TimeWaitsTest, AnswerSeldomEnoughAndNobodyKnowsHowOften) {
  const SequenceNumber ours = live_and_die(1000, 10);
  const std::uint32_t average = server_.settings.challenges_per_second = 100;
  std::set<std::size_t> counts;
  for (int second = 0; second < 10; ++second) {
    advance(seconds(1));
    server_.internet.sent.clear();
    for (std::uint32_t i = 0; i < 3 * average; ++i) {
      arrive(peer_, make_segment(TcpHeader::fin | TcpHeader::ack, 11, ours.value()));
    }
    counts.insert(server_.internet.sent.size());
  }
  EXPECT_GE(*counts.begin(), average / 2);
  EXPECT_LT(*counts.rbegin(), average / 2 + average);
  EXPECT_GT(counts.size(), 5u);
}

// FIN-WAIT-2 of a socket that is gone.
class FinWait2Test : public TimeWaitsTest {
 protected:
  FinWait2Test() {
    ours_ = shake_hands(peer_, 10) + 1;
    const Reference<TcpConnection> served = std::move(listener_->accept()).value();
    served->close(machine_.time);
    server_.tcp.send_pending(machine_.time);
    arrive(peer_, make_segment(TcpHeader::ack, 11, ours_.value()));
    server_.internet.sent.clear();
  }
  std::optional<TcpState> state() {
    std::optional<TcpState> found;
    server_.tcp.visit([&](const TcpRow& row) {
      if (row.flow.remote == peer_) found = row.state;
    });
    return found;
  }

  SequenceNumber ours_;
};

TEST_F(FinWait2Test, IsARecordUntilThePeerEndsItsSide) {
  EXPECT_EQ(server_.tcp.connection_count() + server_.tcp.orphans, 0u);
  EXPECT_EQ(server_.tcp.time_wait_count(), 1u);
  EXPECT_EQ(state(), TcpState::fin_wait_2);
  advance(seconds(40));
  arrive(peer_, make_segment(TcpHeader::fin | TcpHeader::ack, 11, ours_.value()));
  const Segment answered = answer().value();
  EXPECT_EQ(answered.flags, TcpHeader::ack);
  EXPECT_EQ(answered.sequence, ours_);
  EXPECT_EQ(answered.acknowledgment, SequenceNumber(12));
  EXPECT_EQ(state(), TcpState::time_wait);
  advance(seconds(59));
  EXPECT_EQ(server_.tcp.time_wait_count(), 1u);
  advance(seconds(2));
  EXPECT_EQ(server_.tcp.time_wait_count(), 0u);
}

TEST_F(FinWait2Test, DoesNotWaitForever) {
  advance(seconds(59));
  EXPECT_EQ(server_.tcp.time_wait_count(), 1u);
  advance(seconds(2));
  EXPECT_EQ(server_.tcp.time_wait_count(), 0u);
}

TEST_F(FinWait2Test, EndsByDataForNobody) {
  Segment data = make_segment(TcpHeader::ack, 11, ours_.value());
  FakeInternet wire;
  data.source = peer_.port, data.destination = 80;
  data.payload_bytes = 4;
  ByteChain text(machine_.blocks());
  Reference<Block> block = machine_.blocks().create(4).value();
  const std::span<std::byte> all = block->bytes();
  ASSERT_TRUE(text.add(std::move(block), all).ok());
  const Route route{&wire.link, client_address, server_address, 1500, 0, false};
  ASSERT_TRUE(send_segment(wire, route, {client_address, server_address, Protocol::tcp}, data, {}, {&text}));
  deliver(wire.take(), machine_.blocks(), server_.tcp);
  const Segment reset = answer().value();
  EXPECT_EQ(reset.flags, TcpHeader::rst | TcpHeader::ack);
  EXPECT_EQ(reset.sequence, ours_);
  EXPECT_EQ(server_.tcp.time_wait_count(), 0u);
}

TEST_F(FinWait2Test, EndsByAResetAtTheVeryPlaceOnly) {
  arrive(peer_, make_segment(TcpHeader::rst, 12));
  EXPECT_EQ(state(), TcpState::fin_wait_2);
  arrive(peer_, make_segment(TcpHeader::rst, 11));
  EXPECT_EQ(state(), std::nullopt);
}

TEST_F(FinWait2Test, StrangersDoNotMoveIt) {
  arrive(peer_, make_syn(1'000'000));
  EXPECT_EQ(answer().value().flags, TcpHeader::ack) << "no new connection before the old one ended";
  arrive(peer_, make_segment(TcpHeader::fin | TcpHeader::ack, 12, ours_.value()));
  EXPECT_EQ(answer().value().acknowledgment, SequenceNumber(11)) << "out of its order";
  arrive(peer_, make_segment(TcpHeader::fin | TcpHeader::ack, 11, ours_.value() + 1));
  EXPECT_EQ(answer().value().acknowledgment, SequenceNumber(11)) << "of what was never sent";
  arrive(peer_, make_segment(TcpHeader::ack, 11, ours_.value()));
  EXPECT_FALSE(answer().has_value());
  EXPECT_EQ(state(), TcpState::fin_wait_2);
}

TEST_F(TimeWaitsTest, ResetsAndEmptyAcknowledgmentsChangeNothing) {
  const SequenceNumber ours = live_and_die(1000, 10);
  for (const std::uint32_t sequence : {5u, 12u, 13u}) {
    arrive(peer_, make_segment(TcpHeader::rst | TcpHeader::ack, sequence, ours.value()));
    EXPECT_FALSE(answer().has_value());
  }
  EXPECT_EQ(server_.tcp.time_wait_count(), 1u) << "RFC 1337";
  arrive(peer_, make_segment(TcpHeader::ack, 12, ours.value()));
  EXPECT_FALSE(answer().has_value());
  arrive(peer_, make_segment(TcpHeader::fin, 11));
  EXPECT_FALSE(answer().has_value()) << "without an ACK it is no segment of a connection";
  arrive(peer_, make_segment(TcpHeader::ack, 5, ours.value()));
  EXPECT_EQ(answer().value().flags, TcpHeader::ack) << "what is late is told where we are";
}

TEST_F(TimeWaitsTest, GiveWayToALaterSynOnly) {
  const SequenceNumber ours = live_and_die(1000, 10);
  arrive(peer_, make_syn(9));
  EXPECT_EQ(answer().value().flags, TcpHeader::ack) << "a SYN that was late";
  arrive(peer_, make_segment(TcpHeader::syn | TcpHeader::fin, 1'000'000));
  EXPECT_EQ(answer().value().flags, TcpHeader::ack) << "one that ends before it begins";
  ASSERT_EQ(server_.tcp.time_wait_count(), 1u);
  arrive(peer_, make_syn(1'000'000));
  const Segment answered = answer().value();
  EXPECT_EQ(answered.flags, TcpHeader::syn | TcpHeader::ack);
  EXPECT_EQ(answered.sequence, ours + 65'537) << "beyond all that the old connection sent";
  EXPECT_EQ(server_.tcp.time_wait_count(), 0u);
  arrive(peer_, make_segment(TcpHeader::ack, 1'000'001, answered.sequence.value() + 1));
  EXPECT_TRUE(listener_->accept().ok());
}

TEST_F(TimeWaitsTest, TimestampsTellALaterSynWhateverItsNumber) {
  live_and_die(1000, 10, true);
  Segment opening = make_syn(5);
  opening.has_timestamp = true;
  opening.timestamp = 1001;
  arrive(peer_, opening);
  EXPECT_EQ(answer().value().flags, TcpHeader::ack);
  opening.timestamp = 1003;
  arrive(peer_, opening);
  EXPECT_EQ(answer().value().flags, TcpHeader::syn | TcpHeader::ack);
  EXPECT_EQ(server_.tcp.table_counters().time_waits_reused, 1u);
}

TEST_F(TimeWaitsTest, WithoutAListenerASynFindsTheOldOne) {
  live_and_die(1000, 10);
  listener_.reset();
  arrive(peer_, make_syn(1'000'000));
  EXPECT_EQ(answer().value().flags, TcpHeader::ack);
  EXPECT_EQ(server_.tcp.time_wait_count(), 1u);
}

TEST_F(TimeWaitsTest, AreBoundedAndTheOldestGo) {
  server_.settings.most_time_waits = 10;
  for (std::uint16_t i = 0; i < 30; ++i) live_and_die(static_cast<std::uint16_t>(1000 + i), 10);
  EXPECT_EQ(server_.tcp.time_wait_count(), 10u);
  arrive({client_address, 1000}, make_segment(TcpHeader::ack, 5, 1));
  EXPECT_TRUE(answer().value().has(TcpHeader::rst)) << "forgotten";
  arrive({client_address, 1029}, make_segment(TcpHeader::ack, 5, 1));
  EXPECT_EQ(answer().value().flags, TcpHeader::ack);
}

TEST_F(TimeWaitsTest, OurOwnConnectReusesAfterASecondWhereTimestampsAre) {
  const auto connect_from = [&](std::uint16_t port) {
    Binding binding(IpVersion::v4);
    binding.sharing.address = true;
    EXPECT_TRUE(client_.tcp.ports().bind(binding, {client_address, port}).ok());
    Answer<Reference<TcpConnection>> made = client_.tcp.connect(binding, server_end, {}, client_events_, machine_.time);
    client_.tcp.ports().release(binding);
    return made;
  };
  for (const bool timestamps : {true, false}) {
    client_.settings.timestamps = timestamps;
    const std::uint16_t port = timestamps ? 5000 : 5001;
    const Reference<TcpConnection> client = connect_from(port).value();
    exchange();
    const Reference<TcpConnection> served = std::move(listener_->accept()).value();
    client->close(machine_.time);
    client_.tcp.send_pending(machine_.time);
    exchange();
    served->close(machine_.time);
    server_.tcp.send_pending(machine_.time);
    exchange();
    ASSERT_EQ(client_.tcp.time_wait_count(), 1u);
    Binding alone(IpVersion::v4);
    EXPECT_EQ(client_.tcp.ports().bind(alone, {client_address, port}).error(), Errno::eaddrinuse);
    EXPECT_EQ(connect_from(port).error(), Errno::eaddrnotavail);
    advance(seconds(1));
    const Answer<Reference<TcpConnection>> again = connect_from(port);
    EXPECT_EQ(again.ok(), timestamps);
    EXPECT_EQ(client_.tcp.time_wait_count(), timestamps ? 0u : 1u);
    if (again.ok()) again.value()->abort(Errno::econnreset, machine_.time);
  }
}

TEST_F(TimeWaitsTest, WithoutMemoryThereIsNone) {
  const SequenceNumber ours = shake_hands(peer_, 10);
  const Reference<TcpConnection> served = std::move(listener_->accept()).value();
  served->close(machine_.time);
  server_.tcp.send_pending(machine_.time);
  FakeInternet wire;
  Segment last = make_segment(TcpHeader::fin | TcpHeader::ack, 11, ours.value() + 1);
  last.source = 1000, last.destination = 80;
  const Route route{&wire.link, client_address, server_address, 1500, 0, false};
  ASSERT_TRUE(send_segment(wire, route, {client_address, server_address, Protocol::tcp}, last, {}));
  Received packet = make_received(machine_.blocks(), wire.take().bytes);
  machine_.heap.left = 0;
  server_.tcp.received({client_address, server_address, Protocol::tcp}, std::move(packet));
  machine_.heap.left = INT_MAX;
  EXPECT_EQ(server_.tcp.time_wait_count() + server_.tcp.connection_count(), 0u);
  listener_.reset();
  listen(5);
}

}  // namespace
}  // namespace ingot::os::network
