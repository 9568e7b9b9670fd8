// How connections begin and end, and what strangers cannot do to them; with the test as the peer.
#include "os/network/tcp/connection.h"

#include <gtest/gtest.h>

#include "os/file/poll.h"
#include "os/network/tcp/tcp_fixture.h"

namespace ingot::os::network {
namespace {

class TcpConnectionTest : public ::testing::Test, protected PlayedPeer {};

// RFC 9293 3.5: the three ways to begin.
TEST_F(TcpConnectionTest, OpensActively) {
  begin_connecting();
  ASSERT_EQ(heard.size(), 1u);
  EXPECT_EQ(heard[0].maximum_segment, 1460);
  EXPECT_TRUE(heard[0].may_select && heard[0].has_timestamp);
  EXPECT_EQ(heard[0].scale, 7);
  EXPECT_EQ(take_heard(), "S 0(0)");
  EXPECT_EQ(host.socket->events(), 0u);
  say(first(syn | ack));
  EXPECT_EQ(take_heard(), ". 1(0) ack 1");
  EXPECT_EQ(state(), TcpState::established);
  EXPECT_TRUE(host.events.told & poll_event::writable);
}

TEST_F(TcpConnectionTest, OpensPassively) {
  ASSERT_TRUE(host.make(peer, our_start).ok());
  finish_handshake();
  EXPECT_EQ(host.established_count, 1);
  EXPECT_EQ(state(), TcpState::established);
  EXPECT_EQ(take_heard(), "");
}

TEST_F(TcpConnectionTest, OpensFromBothSidesAtOnce) {
  scale = 7;
  begin_connecting();
  take_heard();
  say(first());
  EXPECT_EQ(take_heard(), "S. 0(0) ack 1");
  EXPECT_EQ(state(), TcpState::syn_received);
  say(first(syn | ack));
  EXPECT_EQ(state(), TcpState::established);
  EXPECT_LE(host.socket->info(machine.time).send_window, 32767u) << "a SYN's window is not scaled";
}

TEST_F(TcpConnectionTest, RefusesAcknowledgmentsOfNothingWhileConnecting) {
  begin_connecting();
  take_heard();
  say(ack, 5, 7);
  EXPECT_EQ(take_heard(), "R 7(0)");
  say(rst | ack, 0, 7);
  EXPECT_EQ(state(), TcpState::syn_sent) << "a reset for something else";
  say(rst, 0, 0);
  EXPECT_EQ(state(), TcpState::syn_sent) << "a reset that acknowledges nothing";
  say(rst | ack, 0, 1);
  EXPECT_EQ(state(), TcpState::closed);
  EXPECT_EQ(host.socket->take_error(), Errno::econnrefused);
}

TEST_F(TcpConnectionTest, RepeatsItsSynMoreAndMoreSeldomAndGivesUp) {
  begin_connecting();
  advance(milliseconds(999));
  EXPECT_EQ(heard.size(), 1u);
  advance(seconds(2 + 1));
  EXPECT_EQ(heard.size(), 3u) << "after 1 s, and 2 s later";
  advance(seconds(127));
  EXPECT_EQ(heard.size(), 7u);
  EXPECT_EQ(host.socket->take_error(), Errno::etimedout);
  EXPECT_EQ(host.closed_count, 1);
}

TEST_F(TcpConnectionTest, EndsWhereTheSocketIsClosedWhileConnecting) {
  begin_connecting();
  host.socket->close(machine.time);
  EXPECT_EQ(host.closed_count, 1);
  EXPECT_EQ(take_heard(), "S 0(0)");
}

// A peer that never ends its side, of a socket that ended its own first: nobody would ever ask again.
TEST_F(TcpConnectionTest, DoesNotOutliveItsSocketInFinWait2) {
  accept();
  ASSERT_TRUE(host.socket->shut_down(false, true, machine.time).ok());
  host.flush();
  say(ack, 1, 2);
  ASSERT_EQ(state(), TcpState::fin_wait_2);
  advance(seconds(1000));
  EXPECT_EQ(host.closed_count, 0);
  host.socket->close(machine.time);
  EXPECT_EQ(host.closed_count, 1);
  EXPECT_TRUE(host.has_remains && host.remains.awaits_fin) << "a record waits in its place";
  EXPECT_EQ(host.orphans, 0u);
}

// RFC 9293 3.6: closing, in every order.
TEST_F(TcpConnectionTest, ClosesFirstAndWaits) {
  accept();
  host.socket->close(machine.time);
  EXPECT_EQ(take_heard(), "F. 1(0) ack 1");
  EXPECT_EQ(state(), TcpState::fin_wait_1);
  EXPECT_EQ(host.orphans, 1u);
  say(ack, 1, 2);
  EXPECT_EQ(take_heard(), "");
  EXPECT_TRUE(host.has_remains && host.remains.awaits_fin);
  EXPECT_EQ(host.remains.receive_next, SequenceNumber(peer_start + 1));
  EXPECT_EQ(host.orphans, 0u);
}

TEST_F(TcpConnectionTest, ClosesFirstAndIsAnsweredByTheLastFinAtOnce) {
  accept();
  host.socket->close(machine.time);
  take_heard();
  say(fin | ack, 1, 2);
  EXPECT_EQ(take_heard(), ". 2(0) ack 2");
  EXPECT_TRUE(host.has_remains && !host.remains.awaits_fin);
  EXPECT_EQ(host.remains.receive_next, SequenceNumber(peer_start + 2));
  EXPECT_EQ(host.orphans, 0u);
}

TEST_F(TcpConnectionTest, ClosesSecond) {
  accept();
  say(fin | ack, 1, 1);
  EXPECT_EQ(take_heard(), ". 1(0) ack 2");
  EXPECT_EQ(state(), TcpState::close_wait);
  EXPECT_EQ(read(), "");
  EXPECT_TRUE(host.socket->events() & poll_event::peer_closed);
  EXPECT_FALSE(host.socket->events() & poll_event::hang_up);
  EXPECT_TRUE(write("more").ok()) << "the other direction is open";
  say(ack, 2, 5);
  host.socket->close(machine.time);
  EXPECT_EQ(take_heard(), "P. 1(4) ack 2; F. 5(0) ack 2");
  say(ack, 2, 6);
  EXPECT_EQ(host.closed_count, 1);
  EXPECT_FALSE(host.has_remains);
}

TEST_F(TcpConnectionTest, ClosesAtTheSameTime) {
  accept();
  ASSERT_TRUE(host.socket->shut_down(false, true, machine.time).ok());
  say(fin | ack, 1, 1);
  EXPECT_EQ(state(), TcpState::closing);
  EXPECT_EQ(take_heard(), "F. 1(0) ack 1; F. 1(0) ack 2");
  say(ack, 2, 2);
  EXPECT_TRUE(host.has_remains);
}

TEST_F(TcpConnectionTest, ReceivesAfterItHasShutDown) {
  accept();
  ASSERT_TRUE(host.socket->shut_down(false, true, machine.time).ok());
  say(ack, 1, 2, "half");
  EXPECT_EQ(read(), "half");
  EXPECT_EQ(write("x").error(), Errno::epipe);
  say(fin | ack, 5, 2);
  EXPECT_TRUE(host.has_remains);
  EXPECT_EQ(read(), "");
}

// RFC 2525 2.17, RFC 1122 4.2.2.13.
TEST_F(TcpConnectionTest, ResetsWhereBytesAreLeftUnread) {
  accept();
  say(ack, 1, 1, "unread");
  host.socket->close(machine.time);
  EXPECT_EQ(take_heard(), "R. 1(0) ack 7");
}

TEST_F(TcpConnectionTest, ResetsWhatArrivesForNobody) {
  accept();
  host.socket->close(machine.time);
  take_heard();
  say(ack, 1, 2, "late");
  EXPECT_EQ(take_heard(), "R. 2(0) ack 1");
  EXPECT_EQ(host.closed_count, 1);
}

TEST_F(TcpConnectionTest, LingeringForNothingResets) {
  host.options.linger_seconds = 0;
  accept();
  host.socket->close(machine.time);
  EXPECT_EQ(take_heard(), "R. 1(0) ack 1");
}

// Whose time for FIN-WAIT-2 is not that of records waits by itself.
TEST_F(TcpConnectionTest, DoesNotWaitForeverForThePeersFin) {
  host.options.fin_wait_2_seconds = 20;
  accept();
  host.socket->close(machine.time);
  say(ack, 1, 2);
  advance(seconds(19));
  EXPECT_EQ(host.closed_count, 0);
  say(ack, 1, 2);  // which is no reason to begin anew
  advance(seconds(2));
  EXPECT_EQ(host.closed_count, 1);
}

TEST_F(TcpConnectionTest, BoundsOrphans) {
  host.its_settings.most_orphans = 0;
  accept();
  host.socket->close(machine.time);
  EXPECT_EQ(take_heard(), "R. 1(0) ack 1");
}

// RFC 5961 3: only a reset at the very place counts.
TEST_F(TcpConnectionTest, ChallengesResetsWithinTheWindow) {
  accept();
  say(rst, 2, 0);
  EXPECT_EQ(take_heard(), ". 1(0) ack 1");
  say(rst, 140000, 0);
  say(rst, static_cast<std::uint32_t>(-1), 0);
  EXPECT_EQ(take_heard(), "") << "outside";
  EXPECT_EQ(state(), TcpState::established);
  say(rst, 1, 0);
  EXPECT_EQ(state(), TcpState::closed);
  EXPECT_EQ(host.socket->take_error(), Errno::econnreset);
  EXPECT_EQ(read(), "");
  EXPECT_EQ(write("x").error(), Errno::epipe);
}

// RFC 5961 4.
TEST_F(TcpConnectionTest, ChallengesEverySyn) {
  accept();
  for (const std::uint32_t at : {0u, 1u, 100u, 90000u}) {
    say(segment(syn, at, 0));
    EXPECT_EQ(take_heard(), ". 1(0) ack 1") << at;
  }
  EXPECT_EQ(state(), TcpState::established);
}

// RFC 5961 5.
TEST_F(TcpConnectionTest, ChallengesAcknowledgmentsOutOfRange) {
  accept();
  say(ack, 1, 2, "x");
  EXPECT_EQ(take_heard(), ". 1(0) ack 1") << "of what was never sent: its data are not taken";
  say(ack, 1, 1 - 40000u, "x");
  EXPECT_EQ(take_heard(), ". 1(0) ack 1") << "older than any window";
  say(ack, 1, 1 - 30000u, "x");
  EXPECT_EQ(read(), "x") << "old, but possible";
}

TEST_F(TcpConnectionTest, ChallengesSeldomEnough) {
  host.its_settings.answers_per_second = 3;
  accept();
  for (int i = 0; i < 10; ++i) say(rst, 2, 0);
  EXPECT_EQ(heard.size(), 3u);
  advance(seconds(1));
  say(rst, 2, 0);
  EXPECT_EQ(heard.size(), 4u);
}

TEST_F(TcpConnectionTest, ResetsSeldomEnoughWhileConnecting) {
  begin_connecting();
  take_heard();
  for (int i = 0; i < 100; ++i) say(ack, 5, 7);
  EXPECT_EQ(heard.size(), host.its_settings.answers_per_second);
}

// RFC 7323 4.3, 5.3: a segment that is not believed says nothing of time either, or a stranger would shut the peer out.
TEST_F(TcpConnectionTest, RemembersNoTimeOfWhatItDoesNotBelieve) {
  has_timestamps = true;
  accept();
  Segment forged = acknowledgment(1, 1000);  // of what was never sent
  forged.timestamp += 1'000'000;
  say(forged);
  EXPECT_EQ(host.counters.challenges, 1u);
  say(acknowledgment(1, 1), "heard");
  EXPECT_EQ(read(), "heard");
  EXPECT_EQ(host.counters.old_timestamps, 0u);
}

// A peer that takes a byte now and then answers all that is asked, and gets no further for days.
TEST_F(TcpConnectionTest, DoesNotOutliveItsSocketForAPeerThatTakesItsTime) {
  accept();
  ASSERT_TRUE(write(letters(14600)).ok());
  host.socket->close(machine.time);
  for (std::uint32_t at = 2; host.connection && at < 200; ++at) {
    say(acknowledgment(1, at, at % 2));
    advance(seconds(5));
  }
  EXPECT_EQ(host.closed_count, 1);
  EXPECT_EQ(machine.time, seconds(1000) + milliseconds(round_trip) + host.its_settings.orphan_time);
  EXPECT_TRUE(heard.back().has(rst)) << "and is told";
  EXPECT_EQ(host.orphans, 0u);
}

}  // namespace
}  // namespace ingot::os::network
