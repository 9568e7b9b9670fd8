// Losses, timeouts, and how much may be under way; with the test as the peer.
#include "os/network/tcp/connection.h"

#include <gtest/gtest.h>

#include "os/file/poll.h"
#include "os/network/tcp/tcp_fixture.h"

namespace ingot::os::network {
namespace {

class TcpRecoveryTest : public ::testing::Test, protected PlayedPeer {};

// RFC 6298 5, and Karn's rule.
TEST_F(TcpRecoveryTest, RepeatsWhatIsNotAcknowledged) {
  accept();
  (void)write("lost");
  take_heard();
  advance(milliseconds(310));
  EXPECT_EQ(take_heard(), "P. 1(4) ack 1") << "100 ms of round trip and 200 ms: a probe of the tail";
  advance(milliseconds(300));
  EXPECT_EQ(take_heard(), "P. 1(4) ack 1") << "the timeout";
  advance(milliseconds(310));
  EXPECT_EQ(take_heard(), "");
  advance(milliseconds(310));
  EXPECT_EQ(take_heard(), "P. 1(4) ack 1") << "twice as long";
  const std::uint32_t before = host.socket->info(machine.time).round_trip;
  say(ack, 1, 5);
  EXPECT_EQ(host.socket->info(machine.time).round_trip, before) << "nobody knows which one was answered";
}

TEST_F(TcpRecoveryTest, TimesNothingThatWasSentTwice) {
  accept();
  (void)write("probed");
  advance(milliseconds(310));
  EXPECT_EQ(heard.size(), 2u);
  const std::uint32_t before = host.socket->info(machine.time).round_trip;
  say(ack, 1, 7);
  EXPECT_EQ(host.socket->info(machine.time).round_trip, before);
}

TEST_F(TcpRecoveryTest, TimesNoAnswerToADuplicate) {
  has_timestamps = true;
  accept();
  (void)write(letters(1448));
  const Segment lost = acknowledgment(1, 1449);
  advance(milliseconds(310));
  EXPECT_EQ(heard.size(), 2u) << "a probe of the tail, because the answer was lost";
  const std::uint32_t before = host.socket->info(machine.time).round_trip;
  say(with_ranges(lost, {{1, 1449}}));
  EXPECT_EQ(host.socket->info(machine.time).round_trip, before);
}

TEST_F(TcpRecoveryTest, GivesUpAPeerThatIsGone) {
  accept();
  (void)write("lost");
  advance(seconds(2000));
  EXPECT_EQ(host.socket->take_error(), Errno::etimedout);
  EXPECT_EQ(heard.size(), 17u) << "once, a probe of the tail, and fifteen times";
}

TEST_F(TcpRecoveryTest, GivesUpByTheUsersTime) {
  host.options.user_timeout_milliseconds = 5000;
  accept();
  (void)write("lost");
  advance(seconds(4));
  EXPECT_EQ(state(), TcpState::established);
  advance(seconds(6));
  EXPECT_EQ(host.socket->take_error(), Errno::etimedout);
}

// RFC 8985 7.
TEST_F(TcpRecoveryTest, ProbesTheTailOfABurst) {
  accept();
  (void)write(letters(1460 * 3));
  take_heard();
  advance(milliseconds(203));
  EXPECT_EQ(take_heard(), "P. 2921(1460) ack 1") << "after two round trips, the last one again";
  advance(milliseconds(310));
  EXPECT_EQ(take_heard(), ". 1(1460) ack 1") << "the timeout is counted from the probe";
  EXPECT_EQ(host.counters.timeouts, 1u);
}

TEST_F(TcpRecoveryTest, KnowsWhatIsLostWhenAProbeOfTheTailComes) {
  accept();
  (void)write(letters(1460 * 3));
  advance(milliseconds(203));
  take_heard();
  say(with_ranges(segment(ack, 1, 1), {{2921, 4381}}));
  EXPECT_EQ(take_heard(), ". 1(1460) ack 1; . 1461(1460) ack 1");
  EXPECT_EQ(host.counters.timeouts, 0u);
}

TEST_F(TcpRecoveryTest, RepeatsARetransmissionThatWasLostAsWell) {
  host.options.send_buffer = 100000;
  accept();
  (void)write(letters(1460 * 20));
  take_heard();
  say(with_ranges(segment(ack, 1, 1), {{1461, 1 + 1460 * 10}}));
  EXPECT_EQ(take_heard().substr(0, 15), ". 1(1460) ack 1") << "and new ones behind it";
  say(with_ranges(segment(ack, 1, 1), {{1461, 1 + 1460 * 12}}));
  EXPECT_EQ(take_heard().find(". 1(1460)"), std::string::npos) << "two of those came: they may have overtaken it";
  say(with_ranges(segment(ack, 1, 1), {{1461, 1 + 1460 * 13}}));
  EXPECT_EQ(take_heard().substr(0, 15), ". 1(1460) ack 1");
  say(with_ranges(segment(ack, 1, 1), {{1461, 1 + 1460 * 14}}));
  EXPECT_EQ(take_heard().find(". 1(1460)"), std::string::npos) << "once, until that had its time, too";
  EXPECT_EQ(host.counters.timeouts, 0u);
}

TEST_F(TcpRecoveryTest, ProbesTheTailWithSomethingNew) {
  host.options.send_buffer = 100000;
  accept();
  (void)write(letters(1460 * 12));
  take_heard();
  advance(milliseconds(203));
  EXPECT_EQ(take_heard(), ". 14601(1460) ack 1");
}

// RFC 3168.
TEST_F(TcpRecoveryTest, HeedsNotificationsOfCongestion) {
  host.its_settings.congestion_notification = true;
  begin_connecting();
  EXPECT_TRUE(heard[0].has(TcpHeader::ece) && heard[0].has(TcpHeader::cwr));
  say(first(syn | ack | TcpHeader::ece));
  heard.clear();
  (void)write(letters(1460 * 10));
  EXPECT_FALSE(heard[0].has(TcpHeader::cwr));
  say(ack | TcpHeader::ece, 1, 1 + 1460 * 5);
  const std::uint32_t reduced = host.socket->info(machine.time).congestion_window;
  EXPECT_LT(reduced, 12u);
  say(ack | TcpHeader::ece, 1, 1 + 1460 * 8);
  EXPECT_EQ(host.socket->info(machine.time).congestion_window, reduced) << "once in a round trip";
  heard.clear();
  say(ack, 1, 1 + 1460 * 10);
  (void)write(letters(1460));
  EXPECT_TRUE(heard.back().has(TcpHeader::cwr));
  Segment marked = segment(ack, 1, 1 + 1460 * 11);
  marked.is_marked = true;
  say(marked, "x");
  EXPECT_TRUE(heard.back().has(TcpHeader::ece));
  say(ack | TcpHeader::cwr, 2, 1 + 1460 * 11, "y");
  advance(milliseconds(50));
  EXPECT_FALSE(heard.back().has(TcpHeader::ece));
}

// RFC 1122 4.2.2.17.
TEST_F(TcpRecoveryTest, KeepsAPeerThatClosedItsWindowOverWhatItWasSent) {
  accept();
  (void)write("much");
  for (int i = 0; i < 40; ++i) {
    advance(seconds(60));
    say(acknowledgment(1, 1, 0));
  }
  EXPECT_EQ(state(), TcpState::established);
  heard.clear();
  say(acknowledgment(1, 1));
  advance(seconds(1));
  EXPECT_FALSE(heard.empty());
}

// RFC 5681 3.2 and RFC 6582.
TEST_F(TcpRecoveryTest, RepairsALossByThreeDuplicates) {
  selects = false;
  accept();
  (void)write(letters(1460 * 8));
  take_heard();
  say(ack, 1, 1);
  say(ack, 1, 1);
  EXPECT_EQ(take_heard(), "");
  say(ack, 1, 1);
  EXPECT_EQ(take_heard(), ". 1(1460) ack 1");
  say(ack, 1, 1);
  say(ack, 1, 2921);
  EXPECT_EQ(take_heard(), ". 2921(1460) ack 1") << "the third was lost as well";
  say(ack, 1, 1460 * 8 + 1);
  EXPECT_EQ(host.socket->info(machine.time).congestion_state, 0);
  EXPECT_EQ(host.counters.timeouts, 0u);
}

// RFC 3042.
TEST_F(TcpRecoveryTest, SendsSomethingNewForTheFirstDuplicates) {
  host.options.send_buffer = 100000;
  selects = false;
  accept();
  (void)write(letters(1460 * 14));
  take_heard();
  say(ack, 1, 1);
  EXPECT_EQ(take_heard(), ". 14601(1460) ack 1");
  say(ack, 1, 1);
  EXPECT_EQ(take_heard(), ". 16061(1460) ack 1");
  say(ack, 1, 1);
  EXPECT_EQ(take_heard(), ". 1(1460) ack 1");
}

// RFC 6675.
TEST_F(TcpRecoveryTest, RepairsEveryHoleInOneRoundTrip) {
  host.options.send_buffer = 100000;
  accept();
  (void)write(letters(1460 * 10));
  take_heard();
  const auto at = [](std::uint32_t segments) { return 1 + 1460 * segments; };
  say(with_ranges(segment(ack, 1, 1), {{at(1), at(2)}}));
  say(with_ranges(segment(ack, 1, 1), {{at(3), at(4)}, {at(1), at(2)}}));
  EXPECT_EQ(take_heard(), "");
  say(with_ranges(segment(ack, 1, 1), {{at(5), at(6)}, {at(3), at(4)}, {at(1), at(2)}}));
  EXPECT_EQ(take_heard(), ". 1(1460) ack 1");
  say(with_ranges(segment(ack, 1, 1), {{at(5), at(10)}, {at(3), at(4)}, {at(1), at(2)}}));
  EXPECT_EQ(take_heard(), ". 2921(1460) ack 1; . 5841(1460) ack 1");
  say(ack, 1, at(10));
  EXPECT_EQ(host.socket->unacknowledged_bytes(), 0u);
  EXPECT_EQ(host.counters.retransmitted, 3u);
}

TEST_F(TcpRecoveryTest, BelievesNoRangesThatCannotBe) {
  accept();
  (void)write(letters(1460 * 4));
  take_heard();
  for (int i = 0; i < 5; ++i) {
    say(with_ranges(segment(ack, 1, 1), {{5000, 4000}, {20000, 30000}, {0x80000000, 0x90000000}, {1, 2000}}));
  }
  EXPECT_EQ(host.socket->info(machine.time).selectively_acknowledged, 0u);
  EXPECT_EQ(take_heard(), "");
}

// RFC 3522: the echo says that the answer is to the first one.
TEST_F(TcpRecoveryTest, TakesATimeoutBackThatWasNone) {
  has_timestamps = true;
  accept();
  (void)write(letters(1448 * 8));
  const std::uint32_t window = host.socket->info(machine.time).congestion_window;
  const Segment late = acknowledgment(1, 1 + 1448 * 4);
  advance(milliseconds(600));
  EXPECT_EQ(host.socket->info(machine.time).congestion_window, 1u);
  say(late);
  EXPECT_GE(host.socket->info(machine.time).congestion_window, window);
  EXPECT_EQ(host.counters.spurious_recoveries, 1u);
}

// RFC 7323 5.
TEST_F(TcpRecoveryTest, RefusesWhatIsOlderThanItsTimestamp) {
  has_timestamps = true;
  accept();
  Segment old = acknowledgment(1, 1);
  advance(milliseconds(50));
  say(acknowledgment(1, 1), "new");
  old.sequence += 3;
  old.timestamp -= 10;
  say(old, "old");
  EXPECT_EQ(read(), "new");
  EXPECT_EQ(host.counters.old_timestamps, 1u);
  advance(seconds(25 * 24 * 3600));
  Segment after = acknowledgment(4, 1);
  after.timestamp = old.timestamp;
  say(after, "aged");
  EXPECT_EQ(read(), "aged") << "24 days later it says nothing";
}

TEST_F(TcpRecoveryTest, ScalesWindows) {
  scale = 3;
  accept();
  EXPECT_EQ(host.socket->info(machine.time).send_window, 32767u << 3);
  say(acknowledgment(1, 1, 1000), "x");
  EXPECT_EQ(host.socket->info(machine.time).send_window, 8000u);
  advance(milliseconds(50));
  EXPECT_EQ(heard.back().window, (128 * 1024 - 1) >> 7);
}

// RFC 6928, RFC 5681 3.1, RFC 2861.
TEST_F(TcpRecoveryTest, StartsWithTenSegmentsAndDoubles) {
  host.options.send_buffer = 200000;
  scale = 7;
  accept();
  (void)write(letters(1460 * 60));
  EXPECT_EQ(heard.size(), 10u);
  heard.clear();
  say(acknowledgment(1, 1 + 1460 * 10));
  EXPECT_EQ(heard.size(), 20u);
  say(acknowledgment(1, 1 + 1460 * 30));
  say(acknowledgment(1, 1 + 1460 * 60));
  EXPECT_GE(host.socket->info(machine.time).congestion_window, 60u);
  advance(seconds(60));
  heard.clear();
  (void)write(letters(1460 * 60));
  EXPECT_EQ(heard.size(), 10u) << "nobody knows what the path bears a minute later";
}

// RFC 1191 and RFC 5927.
TEST_F(TcpRecoveryTest, LearnsThePathsMtuFromWhoNamesItsSegments) {
  accept();
  (void)write(letters(1460 * 2));
  take_heard();
  Refusal refusal{.kind = Refusal::Kind::too_big, .from = {}, .to = {}, .mtu = 1000};
  refusal.sequence = our_start + 60000;
  host.connection->refused(refusal);
  host.flush();
  EXPECT_EQ(take_heard(), "");
  refusal.sequence = our_start + 1;
  host.connection->refused(refusal);
  host.flush();
  EXPECT_EQ(take_heard(), ". 1(960) ack 1; . 961(960) ack 1; . 1921(960) ack 1; P. 2881(40) ack 1");
  refusal.mtu = 68;
  host.connection->refused(refusal);
  EXPECT_EQ(host.socket->info(machine.time).send_segment, 512u) << "no stranger makes them tiny";
}

TEST_F(TcpRecoveryTest, IsToldThatNobodyIsThere) {
  begin_connecting();
  Refusal refusal{.kind = Refusal::Kind::unreachable_port, .from = {}, .to = {}};
  refusal.sequence = our_start + 1;
  host.connection->refused(refusal);
  EXPECT_EQ(state(), TcpState::syn_sent);
  refusal.sequence = our_start;
  host.connection->refused(refusal);
  EXPECT_EQ(host.socket->take_error(), Errno::econnrefused);
}

// RFC 1122 4.2.3.6.
TEST_F(TcpRecoveryTest, AsksWhetherThePeerIsStillThere) {
  host.options.keep_alive = true;
  host.options.keep_alive_idle_seconds = 10;
  host.options.keep_alive_interval_seconds = 2;
  host.options.keep_alive_probes = 3;
  accept();
  advance(seconds(11));
  EXPECT_EQ(take_heard(), ". 0(0) ack 1");
  say(ack, 1, 1);
  advance(seconds(9));
  EXPECT_EQ(take_heard(), "");
  advance(seconds(8));
  EXPECT_EQ(take_heard(), ". 0(0) ack 1; . 0(0) ack 1; . 0(0) ack 1; R. 1(0) ack 1");
  EXPECT_EQ(host.socket->take_error(), Errno::etimedout);
}

TEST_F(TcpRecoveryTest, WaitsForRoomOnTheLink) {
  accept();
  host.has_room = false;
  EXPECT_EQ(write("later").value(), 5u);
  EXPECT_TRUE(host.waits_for_room);
  host.has_room = true;
  host.socket->send_pending(machine.time);
  EXPECT_EQ(take_heard(), "P. 1(5) ack 1");
}

TEST_F(TcpRecoveryTest, SaysWhenThereIsRoomToWrite) {
  host.options.send_buffer = 10000;
  accept();
  EXPECT_EQ(write(letters(20000)).value(), 14600u) << "what may be sent is taken at once, whatever the buffer is";
  EXPECT_EQ(write("x").error(), Errno::eagain);
  EXPECT_FALSE(host.socket->events() & poll_event::writable);
  host.events.told = 0;
  say(ack, 1, 1461);
  EXPECT_EQ(host.events.told & poll_event::writable, 0u) << "a third must be free";
  say(ack, 1, 8761);
  EXPECT_TRUE(host.events.told & poll_event::writable);
  EXPECT_TRUE(host.socket->events() & poll_event::writable);
}

TEST_F(TcpRecoveryTest, KeepsSmallPacketsInLittleMemory) {
  host.options.receive_buffer = 64 << 10;
  accept();
  for (std::uint32_t i = 0; i < 60000; ++i) {
    Reference<Block> block = machine.its_blocks.create(2048).value();
    ByteChain chain(machine.its_blocks);
    const std::span<std::byte> part = block->bytes().first(1);
    part[0] = static_cast<std::byte>('a' + i % 26);
    ASSERT_TRUE(chain.add(std::move(block), part).ok());
    Segment one = segment(ack, 1 + i, 1);
    one.payload_bytes = 1;
    host.connection->segment_arrived(one, Received(std::move(chain)), machine.time);
    host.flush();
    ASSERT_LT(machine.heap.statistics().live_bytes, 400u << 10);
  }
  EXPECT_EQ(read(), letters(60000));
}

TEST_F(TcpRecoveryTest, ReadsUrgentDataInLine) {
  accept();
  Segment urgent = segment(ack | TcpHeader::urg, 1, 1);
  urgent.urgent = 2;
  say(urgent, "now!");
  EXPECT_EQ(read(), "now!");
}

}  // namespace
}  // namespace ingot::os::network
