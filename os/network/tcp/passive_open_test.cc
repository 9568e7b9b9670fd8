#include <vector>

#include "os/network/tcp/tcp_table_fixture.h"

namespace ingot::os::network {
namespace {

class PassiveOpenTest : public TcpTableFixture {};

TEST_F(PassiveOpenTest, TheNearestListenerIsAsked) {
  Owned<TcpListener> any = listen(5, {IpAddress::v4(0, 0, 0, 0), 80}, {false, true});
  Owned<TcpListener> exact = listen(5, server_end, {false, true});
  shake_hands({client_address, 1000}, 1);
  EXPECT_TRUE(exact->accept().ok());
  EXPECT_FALSE(any->accept().ok());
  exact.reset();
  shake_hands({client_address, 1001}, 1);
  EXPECT_TRUE(any->accept().ok());
}

TEST_F(PassiveOpenTest, BothVersionsReachAListenerOfBoth) {
  Owned<TcpListener> listener = listen(5, {IpAddress(), 80});
  shake_hands({client_address, 1000}, 1);
  const Endpoint here{or_loopback(IpAddress()), 80}, peer{here.address, 1001};
  arrive(peer, make_syn(1), here);
  const Segment answered = answer().value();
  EXPECT_EQ(answered.maximum_segment, 1440) << "what IPv6's header leaves";
  arrive(peer, make_segment(TcpHeader::ack, 2, answered.sequence.value() + 1), here);
  EXPECT_EQ(listener->waiting_count(), 2u);
  EXPECT_EQ(listener->accept().value()->local(), server_end);
  EXPECT_EQ(listener->accept().value()->local(), here);
}

TEST_F(PassiveOpenTest, ListenersThatShareAPortShareItsClients) {
  std::vector<Owned<TcpListener>> listeners;
  for (int i = 0; i < 4; ++i) listeners.push_back(listen(1000, server_end, {false, true}));
  for (std::uint16_t i = 0; i < 400; ++i) {
    shake_hands({client_address, static_cast<std::uint16_t>(1000 + i)}, 1);
  }
  for (Owned<TcpListener>& listener : listeners) {
    EXPECT_TRUE(listener->waiting_count() > 60 && listener->waiting_count() < 140) << listener->waiting_count();
  }
}

TEST_F(PassiveOpenTest, OneListensUnlessAllShareThePort) {
  Owned<TcpListener> first = listen(5, server_end, {true, false});
  Binding second(IpVersion::v4);
  second.sharing = {true, true};
  EXPECT_EQ(server_.tcp.ports().bind(second, server_end).error(), Errno::eaddrinuse);
  first.reset();
  ASSERT_TRUE(server_.tcp.ports().bind(second, server_end).ok());
  Binding third(IpVersion::v4);
  third.sharing = {true, false};
  ASSERT_TRUE(server_.tcp.ports().bind(third, server_end).ok()) << "nobody listens yet";
  Owned<TcpListener> listener = std::move(server_.tcp.listen(second, 5, {}, events_)).value();
  EXPECT_EQ(server_.tcp.listen(third, 5, {}, events_).error(), Errno::eaddrinuse);
  EXPECT_TRUE(third.is_bound()) << "it may try again";
  server_.tcp.ports().release(third);
}

TEST_F(PassiveOpenTest, AServerMayStartAgainBesideItsOldConnections) {
  Owned<TcpListener> listener = listen(5, server_end, {true, false});
  const SequenceNumber ours = shake_hands({client_address, 1000}, 1);
  shake_hands({client_address, 1001}, 1);
  const Reference<TcpConnection> waits = listener->accept().value(), stays = listener->accept().value();
  close_by_server({client_address, 1000}, *waits, ours, 2);
  ASSERT_EQ(server_.tcp.time_wait_count(), 1u);
  listener.reset();
  EXPECT_EQ(stays->state(), TcpState::established);
  Binding stranger(IpVersion::v4);
  EXPECT_EQ(server_.tcp.ports().bind(stranger, server_end).error(), Errno::eaddrinuse);
  listener = listen(5, server_end, {true, false});
  EXPECT_TRUE(shake_hands({client_address, 1002}, 1) != SequenceNumber());
  EXPECT_TRUE(listener->accept().ok());
}

TEST_F(PassiveOpenTest, AFullQueueDropsAndLaterTriesSucceed) {
  Owned<TcpListener> listener = listen(1);
  const Endpoint first{client_address, 1000}, second{client_address, 1001}, third{client_address, 1002};
  shake_hands(first, 1);
  arrive(second, make_syn(1));
  const SequenceNumber for_second = answer().value().sequence + 1;
  arrive(third, make_syn(1));
  const SequenceNumber for_third = answer().value().sequence + 1;
  arrive(second, make_segment(TcpHeader::ack, 2, for_second.value()));
  EXPECT_EQ(listener->waiting_count(), 2u) << "one more than the backlog, as on Linux";
  arrive(third, make_segment(TcpHeader::ack, 2, for_third.value()));
  EXPECT_EQ(listener->waiting_count(), 2u);
  EXPECT_FALSE(answer().has_value()) << "the ACK counts as lost";
  arrive({client_address, 1003}, make_syn(1));
  EXPECT_FALSE(answer().has_value()) << "and so does a SYN";
  EXPECT_EQ(server_.tcp.table_counters().listen_overflows, 2u);
  EXPECT_TRUE(listener->accept().ok());
  advance(seconds(1));
  const std::optional<Segment> again = answer();
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->sequence + 1, for_third);
  EXPECT_EQ(again->flags, TcpHeader::syn | TcpHeader::ack);
  arrive(third, make_segment(TcpHeader::ack, 2, for_third.value()));
  EXPECT_EQ(listener->waiting_count(), 2u);
  EXPECT_EQ(server_.tcp.handshake_count(), 0u);
}

TEST_F(PassiveOpenTest, AHandshakeIsTriedSixTimesAndForgotten) {
  Owned<TcpListener> listener = listen(5);
  arrive({client_address, 1000}, make_syn(1));
  advance(seconds(62));
  EXPECT_EQ(server_.internet.sent.size(), 6u);
  EXPECT_EQ(server_.tcp.handshake_count(), 1u);
  advance(seconds(2));
  EXPECT_EQ(server_.tcp.handshake_count(), 0u);
  EXPECT_EQ(server_.tcp.table_counters().handshakes_given_up, 1u);
}

TEST_F(PassiveOpenTest, WhatHandshakesAreTold) {
  Owned<TcpListener> listener = listen(5);
  const Endpoint peer{client_address, 1000};
  arrive(peer, make_syn(1));
  const SequenceNumber ours = answer().value().sequence;
  arrive(peer, make_syn(1));
  EXPECT_EQ(answer().value().sequence, ours) << "a SYN that comes again gets the same answer";
  arrive(peer, make_syn(50));
  EXPECT_EQ(answer().value().flags, TcpHeader::ack) << "another SYN is challenged";
  arrive(peer, make_segment(TcpHeader::ack, 2, ours.value() + 2));
  const Segment reset = answer().value();
  EXPECT_EQ(reset.flags, TcpHeader::rst);
  EXPECT_EQ(reset.sequence, ours + 2);
  arrive(peer, make_segment(TcpHeader::ack, 1, ours.value() + 2));
  EXPECT_EQ(answer().value().flags, TcpHeader::ack) << "outside of the window, whatever it acknowledges";
  arrive(peer, make_segment(TcpHeader::fin, 2));
  EXPECT_FALSE(answer().has_value()) << "no ACK, no news";
  arrive(peer, make_segment(TcpHeader::rst, 500));
  const Segment challenge = answer().value();
  EXPECT_EQ(challenge.flags, TcpHeader::ack) << "a reset that is not exact is challenged";
  EXPECT_EQ(challenge.window, 65'535);
  arrive(peer, make_segment(TcpHeader::rst, 1));
  EXPECT_FALSE(answer().has_value());
  EXPECT_EQ(server_.tcp.handshake_count(), 1u);
  arrive(peer, make_segment(TcpHeader::rst, 2));
  EXPECT_EQ(server_.tcp.handshake_count(), 0u);
  EXPECT_EQ(server_.tcp.connection_count(), 0u);
}

TEST_F(PassiveOpenTest, ASynThatComesAgainIsAnsweredWithinARate) {
  Owned<TcpListener> listener = listen(5);
  for (int i = 0; i < 3000; ++i) arrive({client_address, 1000}, make_syn(1));
  EXPECT_LE(server_.internet.sent.size(), server_.settings.challenges_per_second * 3 / 2 + 1);
}

TEST_F(PassiveOpenTest, AListenersEndResetsWhatWaitsInIt) {
  Owned<TcpListener> listener = listen(5);
  const SequenceNumber ours = shake_hands({client_address, 1000}, 1);
  arrive({client_address, 1001}, make_syn(1));
  server_.internet.sent.clear();
  listener.reset();
  const Segment reset = answer().value();
  EXPECT_TRUE(reset.has(TcpHeader::rst));
  EXPECT_EQ(reset.destination, 1000);
  EXPECT_EQ(reset.sequence, ours);
  EXPECT_EQ(server_.tcp.connection_count() + server_.tcp.handshake_count(), 0u);
}

TEST_F(PassiveOpenTest, OneThatIsResetBeforeAcceptIsStillAccepted) {
  Owned<TcpListener> listener = listen(5);
  shake_hands({client_address, 1000}, 1);
  arrive({client_address, 1000}, make_segment(TcpHeader::rst, 2));
  EXPECT_EQ(server_.tcp.connection_count(), 0u);
  const Reference<TcpConnection> accepted = listener->accept().value();
  EXPECT_EQ(receive(*accepted), "ECONNRESET");
}

}  // namespace
}  // namespace ingot::os::network
