// Windows, small segments, delayed acknowledgments, buffers; with the test as the peer.
#include "os/network/tcp/connection.h"

#include <gtest/gtest.h>

#include "os/file/poll.h"
#include "os/network/tcp/tcp_fixture.h"

namespace ingot::os::network {
namespace {

class TcpWindowsTest : public ::testing::Test, protected PlayedPeer {};

// RFC 9293 3.8.6.
TEST_F(TcpWindowsTest, ShowsTheRoomItHasAndNeverTakesItBack) {
  host.options.receive_buffer = 10000;
  accept();
  SequenceNumber edge(peer_start + 1 + 10000);
  std::uint32_t at = 1;
  for (int i = 0; i < 30; ++i) {
    say(ack, at, 1, letters(1000));
    at = std::min(at + 1000, 10001u);
    if (i % 7 == 6) read(3000);
    for (const Heard& what : std::exchange(heard, {})) {
      const SequenceNumber shown = what.acknowledgment + what.window;
      EXPECT_GE(shown - edge, 0);
      edge = later(edge, shown);
      at = what.acknowledges;
    }
  }
}

TEST_F(TcpWindowsTest, TellsOfRoomAfterALongRead) {
  host.options.receive_buffer = 4000;
  accept();
  say(ack, 1, 1, letters(1400));
  say(ack, 1401, 1, letters(1400));
  say(ack, 2801, 1, letters(1200));
  advance(milliseconds(50));
  EXPECT_EQ(heard.back().window, 0u);
  say(ack, 4001, 1, "z");
  EXPECT_EQ(heard.back().acknowledges, 4001u) << "beyond the window";
  heard.clear();
  EXPECT_EQ(read(500).size(), 500u);
  EXPECT_EQ(take_heard(), "") << "too little to tell of";
  read();
  ASSERT_EQ(heard.size(), 1u);
  EXPECT_EQ(heard[0].window, 4000u);
}

TEST_F(TcpWindowsTest, OpensNoWindowThatIsTooSmallForASegment) {
  host.options.receive_buffer = 8000;
  accept();
  for (std::uint32_t at = 1; at < 8001; at += 1000) say(ack, at, 1, letters(1000));
  EXPECT_EQ(heard.back().window, 0u);
  read(1000);
  say(ack, 8001, 1, "z");
  EXPECT_EQ(heard.back().window, 0u) << "1,000 bytes are free";
  read(1000);
  say(ack, 8001, 1, "z");
  EXPECT_EQ(heard.back().window, 2000u - 1) << "this byte fits, though it was not promised";
}

TEST_F(TcpWindowsTest, ProbesAClosedWindow) {
  accept();
  say(acknowledgment(1, 1, 0));
  EXPECT_TRUE(write("waiting").ok());
  EXPECT_EQ(take_heard(), "");
  advance(seconds(1));
  EXPECT_EQ(heard[0].at, 0u) << "something old, that must be answered";
  EXPECT_TRUE(heard[0].payload.empty());
  const std::size_t probes = heard.size();
  advance(seconds(60));
  EXPECT_LT(heard.size(), probes + 8) << "more and more seldom";
  heard.clear();
  say(acknowledgment(1, 1, 3));
  EXPECT_EQ(take_heard(), "") << "a crumb, which waits for a larger window";
  advance(milliseconds(201));
  EXPECT_EQ(take_heard(), ". 1(3) ack 1") << "but not for ever";
}

// RFC 9293 3.7.4, with Minshall's change: one small segment at a time.
TEST_F(TcpWindowsTest, HoldsBackSmallSegments) {
  accept();
  (void)write("a");
  (void)write("b");
  (void)write("c");
  EXPECT_EQ(take_heard(), "P. 1(1) ack 1");
  say(ack, 1, 2);
  EXPECT_EQ(take_heard(), "P. 2(2) ack 1");
  (void)write(letters(1460 + 10));
  EXPECT_EQ(take_heard(), ". 4(1460) ack 1") << "full ones are not held back";
  TcpOptions options = host.socket->options();
  options.no_delay = true;
  host.socket->set_options(options, machine.time);
  EXPECT_EQ(take_heard(), "P. 1464(10) ack 1");
}

TEST_F(TcpWindowsTest, CorksAndUncorks) {
  host.options.cork = true;
  accept();
  (void)write("head");
  EXPECT_EQ(take_heard(), "");
  advance(milliseconds(201));
  EXPECT_EQ(take_heard(), "P. 1(4) ack 1") << "not for ever";
  (void)write("body");
  TcpOptions options = host.socket->options();
  options.cork = false;
  host.socket->set_options(options, machine.time);
  EXPECT_EQ(take_heard(), "P. 5(4) ack 1");
  say(ack, 1, 9);
  (void)write("more", true);
  EXPECT_EQ(take_heard(), "");
  (void)write("to come");
  EXPECT_EQ(take_heard(), "P. 9(11) ack 1");
}

// The time that something was held back for is none of what is sent then.
TEST_F(TcpWindowsTest, WhatWasCorkedIsNotTakenForLost) {
  host.options.cork = true;
  accept();
  (void)write(letters(100));
  advance(milliseconds(199));
  (void)write(letters(1460));
  EXPECT_EQ(take_heard(), ". 1(1460) ack 1");
  advance(milliseconds(90));
  EXPECT_EQ(take_heard(), "");
  EXPECT_EQ(host.counters.timeouts, 0u);
  say(ack, 1, 1461);
  advance(milliseconds(201));
  EXPECT_EQ(take_heard(), "P. 1461(100) ack 1");
}

TEST_F(TcpWindowsTest, TakesNoMoreThanWhatIsUnsentMayBe) {
  host.options.send_buffer = 1 << 20;
  host.options.not_sent_low_water = 4000;
  accept();
  EXPECT_EQ(write(letters(100000)).value(), 14600u + 16383 / 1460 * 1460);
  EXPECT_FALSE(host.socket->events() & poll_event::writable);
  say(acknowledgment(1, 1 + 14600));
  EXPECT_TRUE(host.socket->events() & poll_event::writable);
}

// RFC 9293 3.8.6.3, RFC 1122 4.2.3.2.
TEST_F(TcpWindowsTest, DelaysAcknowledgments) {
  accept();
  say(ack, 1, 1, "a");
  EXPECT_EQ(take_heard(), "");
  advance(milliseconds(41));
  EXPECT_EQ(take_heard(), ". 1(0) ack 2");
  say(ack, 2, 1, "b");
  say(ack, 3, 1, "c");
  EXPECT_EQ(take_heard(), ". 1(0) ack 4") << "every second one at once";
  say(ack, 4, 1, "d");
  (void)write("answer");
  EXPECT_EQ(take_heard(), "P. 1(6) ack 5") << "rides on what is said";
  say(ack, 5, 7, "e");
  host.socket->acknowledge_quickly(machine.time);
  EXPECT_EQ(take_heard(), ". 7(0) ack 6");
}

// RFC 2018, RFC 2883: what freebsd's scripts want to see, too.
TEST_F(TcpWindowsTest, TellsWhatCameEarlyAndTwice) {
  accept();
  const std::string text = letters(800);
  const auto bytes = [&](std::uint32_t begin, std::uint32_t end) {
    say(segment(ack, begin, 1), std::string_view(text).substr(begin - 1, end - begin));
  };
  bytes(1, 100);
  bytes(200, 300);
  EXPECT_EQ(take_heard(), ". 1(0) ack 100 200:300");
  bytes(400, 500);
  EXPECT_EQ(take_heard(), ". 1(0) ack 100 400:500 200:300");
  bytes(600, 700);
  EXPECT_EQ(take_heard(), ". 1(0) ack 100 600:700 400:500 200:300");
  bytes(450, 700);
  EXPECT_EQ(take_heard(), ". 1(0) ack 100 450:500 400:700 200:300");
  bytes(250, 275);
  EXPECT_EQ(take_heard(), ". 1(0) ack 100 250:275 200:300 400:700");
  bytes(50, 400);
  EXPECT_EQ(take_heard(), ". 1(0) ack 700 50:100");
  bytes(1, 200);
  EXPECT_EQ(take_heard(), ". 1(0) ack 700 1:200");
  EXPECT_EQ(read(), text.substr(0, 699));
}

}  // namespace
}  // namespace ingot::os::network
