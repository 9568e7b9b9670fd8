// Scripts of our own, where those of others say little: IPv6, UDP, and what Linux's sockets do.
#include <gtest/gtest.h>

#include "tests/network/ingot_stack.h"
#include "tests/network/runner.h"
#include "tests/network/script_reader.h"

namespace ingot::network_scripts {
namespace {

std::string drive(const std::string& text) {
  const Result<Script> script = read_script(text);
  if (!script.ok()) return std::string(script.error().text());
  const Verdict verdict =
      run_script(script.value(), [](const Environment& place) { return std::make_unique<IngotStack>(place); });
  if (verdict.kind == Verdict::Kind::passed) return "passed";
  return std::to_string(verdict.line) + ": " + verdict.reason + "\n" + verdict.details;
}

// $MSS: what a packet of 1500 bytes leaves.
std::string with_segment(std::string script, std::string_view bytes) {
  for (std::size_t at = script.find("$MSS"); at != std::string::npos; at = script.find("$MSS")) {
    script.replace(at, 4, bytes);
  }
  return script;
}

// In both versions of IP.
void expect_passes(const std::string& text) {
  EXPECT_EQ(drive(with_segment(text, "1460")), "passed") << "IPv4";
  EXPECT_EQ(drive("--ip_version=ipv6\n" + with_segment(text, "1440")), "passed") << "IPv6";
}

const std::string connected_server = R"(0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 bind(3, ..., ...) = 0
+0 listen(3, 1) = 0
+0 < S 0:0(0) win 65535 <mss $MSS,nop,wscale 7>
+0 > S. 0:0(0) ack 1 <mss $MSS,nop,wscale 8>
+.1 < . 1:1(0) ack 1 win 257
+0 accept(3, ..., ...) = 4
)";

TEST(OwnScripts, DatagramsGoBothWays) {
  expect_passes(R"(0 socket(..., SOCK_DGRAM, IPPROTO_UDP) = 3
+0 bind(3, ..., ...) = 0
+0 < udp (0)
+0 < udp (1000)
+0 ioctl(3, SIOCINQ, [0]) = 0
+0 read(3, ..., 100) = 0
+0 ioctl(3, SIOCINQ, [1000]) = 0
+0 recv(3, ..., 100, MSG_PEEK) = 100
+0 read(3, ..., 100) = 100
+0 recv(3, ..., 100, MSG_DONTWAIT) = -1 EAGAIN (Resource temporarily unavailable)
+0 write(3, ..., 10) = -1 EDESTADDRREQ (Destination address required)
+0 sendto(3, ..., 500, 0, ..., ...) = 500
+0 > udp (500)
+0 connect(3, ..., ...) = 0
+0 write(3, ..., 0) = 0
+0 > udp (0)
+.5...0.7 read(3, ..., 2000) = 1200
+.2 < udp (1200)
)");
}

TEST(OwnScripts, APortThatNobodyHasIsToldOnce) {
  const std::string script = R"(0 socket(..., SOCK_DGRAM, IPPROTO_UDP) = 3
+0 connect(3, ..., ...) = 0
+0 write(3, ..., 10) = 10
+0 > udp (10)
+.1 < icmp unreachable port_unreachable [0:10(10)]
+0 getsockopt(3, SOL_SOCKET, SO_ERROR, [ECONNREFUSED], [4]) = 0
+0 write(3, ..., 10) = 10
+0 > udp (10)
+.1 < icmp unreachable port_unreachable [0:10(10)]
+0 read(3, ..., 10) = -1 ECONNREFUSED (Connection refused)
+0 recv(3, ..., 10, MSG_DONTWAIT) = -1 EAGAIN (Resource temporarily unavailable)
)";
  expect_passes(script);
  std::string other = script;
  other.replace(other.find("ECONNREFUSED (Connection"), 12, "ECONNABORTED");
  EXPECT_NE(drive(other), "passed");
}

TEST(OwnScripts, ShutDownDatagramsEnd) {
  expect_passes(R"(0 socket(..., SOCK_DGRAM, IPPROTO_UDP) = 3
+0 shutdown(3, SHUT_RD) = -1 ENOTCONN (Transport endpoint is not connected)
+0 connect(3, ..., ...) = 0
+0 shutdown(3, SHUT_RDWR) = 0
+0 read(3, ..., 10) = 0
+0 write(3, ..., 10) = -1 EPIPE (Broken pipe)
)");
}

// RFC 8201: what is too large for the way is cut smaller, and sent again at once.
TEST(OwnScripts, APathThatIsNarrowerMakesSegmentsSmaller) {
  EXPECT_EQ(drive("--ip_version=ipv6\n--strict_segments\n" + with_segment(connected_server, "1440") +
                  R"(+0 send(4, ..., 1440, 0) = 1440
+0 > P. 1:1441(1440) ack 1
+.01 < icmp packet_too_big mtu 1300 [1:1441(1440)]
+0 > . 1:1241(1240) ack 1
+0 > P. 1241:1441(200) ack 1
)"),
            "passed");
}

// As Linux does, at once: a program that waits for a machine which is off wants to know.
TEST(OwnScripts, WhoCannotBeReachedIsToldOf) {
  const std::string begin = R"(0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0...0.1 connect(3, ..., ...) = -1 $ERROR
+0 > S 0:0(0) <...>
+.1 < icmp )";
  const auto expect_error = [&](const std::string& version, const std::string& message, const std::string& error) {
    std::string script = "--ip_version=" + version + "\n" + begin + message + " [0:0(0)]\n";
    EXPECT_EQ(drive(script.replace(script.find("$ERROR"), 6, error)), "passed") << version << message;
  };
  expect_error("ipv4", "unreachable host_unreachable", "EHOSTUNREACH");
  expect_error("ipv4", "unreachable net_unreachable", "ENETUNREACH");
  expect_error("ipv4", "time_exceeded ttl_exceeded_in_transit", "EHOSTUNREACH");
  expect_error("ipv6", "unreachable address_unreachable", "EHOSTUNREACH");
  expect_error("ipv6", "unreachable no_route", "ENETUNREACH");
}

TEST(OwnScripts, WhoLingersForNoTimeResets) {
  expect_passes(connected_server + R"(+0 setsockopt(4, SOL_SOCKET, SO_LINGER, {onoff=1, linger=0}, 8) = 0
+0 send(4, ..., 100, 0) = 100
+0 > P. 1:101(100) ack 1
+0 close(4) = 0
+0 > R. 101:101(0) ack 1
)");
}

TEST(OwnScripts, WhatIsLeftUnreadResets) {
  expect_passes(connected_server + R"(+0 < P. 1:101(100) ack 1 win 257
+0 > . 1:1(0) ack 101
+0 close(4) = 0
+0 > R. 1:1(0) ack 101
)");
}

TEST(OwnScripts, AListenerThatIsShutDownAcceptsNobody) {
  expect_passes(R"(0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 bind(3, ..., ...) = 0
+0 listen(3, 1) = 0
+0 shutdown(3, SHUT_RD) = 0
+0 accept(3, ..., ...) = -1 EINVAL (Invalid argument)
+0 < S 0:0(0) win 65535 <mss $MSS>
+0 > R. 0:0(0) ack 1
)");
}

TEST(OwnScripts, OptionsTellWhatHolds) {
  expect_passes(connected_server + R"(+0 getsockopt(4, SOL_TCP, TCP_MAXSEG, [$MSS], [4]) = 0
+0 getsockopt(4, SOL_TCP, TCP_KEEPIDLE, [7200], [4]) = 0
+0 setsockopt(4, SOL_SOCKET, SO_RCVBUF, [5000], 4) = 0
+0 getsockopt(4, SOL_SOCKET, SO_RCVBUF, [10000], [4]) = 0
+0 setsockopt(4, SOL_TCP, TCP_KEEPIDLE, [0], 4) = -1 EINVAL (Invalid argument)
)");
}

TEST(OwnScripts, KeepsAPeerAliveAndGivesItUp) {
  expect_passes(connected_server + R"(+0 setsockopt(4, SOL_SOCKET, SO_KEEPALIVE, [1], 4) = 0
+0 setsockopt(4, SOL_TCP, TCP_KEEPIDLE, [5], 4) = 0
+0 setsockopt(4, SOL_TCP, TCP_KEEPINTVL, [2], 4) = 0
+0 setsockopt(4, SOL_TCP, TCP_KEEPCNT, [2], 4) = 0
+5 > . 0:0(0) ack 1
+.1 < . 1:1(0) ack 1 win 257
+5 > . 0:0(0) ack 1
+2 > . 0:0(0) ack 1
+2 > R. 1:1(0) ack 1
+0 read(4, ..., 10) = -1 ETIMEDOUT (Connection timed out)
)");
}

}  // namespace
}  // namespace ingot::network_scripts
