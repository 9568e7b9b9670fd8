// The kernel's stack is driven whole: sockets, TCP, IP, neighbours, ICMP.
#include "tests/network/ingot_stack.h"

#include <gtest/gtest.h>

#include "tests/network/runner.h"
#include "tests/network/script_reader.h"

namespace ingot::network_scripts {
namespace {

std::string drive(std::string_view text) {
  const Result<Script> script = read_script(text);
  if (!script.ok()) return std::string(script.error().text());
  const Verdict verdict =
      run_script(script.value(), [](const Environment& place) { return std::make_unique<IngotStack>(place); });
  if (verdict.kind == Verdict::Kind::passed) return "passed";
  return std::to_string(verdict.line) + ": " + verdict.reason;
}

constexpr std::string_view server = R"(
0 `sysctl -w net.inet.tcp.recvspace=65536`
+0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 setsockopt(3, SOL_SOCKET, SO_REUSEADDR, [1], 4) = 0
+0 bind(3, ..., ...) = 0
+0 listen(3, 5) = 0
+.1...0.3 accept(3, ..., ...) = 4
+.1 < S 0:0(0) win 30000 <mss 1460>
+0 > S. 0:0(0) ack 1 win 65535 <mss 1460>
+.1 < . 1:1(0) ack 1 win 30000
+0 getsockopt(4, SOL_SOCKET, SO_RCVBUF, [65700], [4]) = 0
+.1 < P. 1:101(100) ack 1 win 30000
+0 ioctl(4, SIOCINQ, [100]) = 0
+0 recv(4, ..., 1000, MSG_PEEK) = 100
+0 read(4, NULL, 10) = -1 EFAULT (Bad address)
+0 read(4, ..., 1000) = 100
+.04 > . 1:1(0) ack 101
+0 send(4, ..., 3000, 0) = 3000
+0 > P. 1:3001(3000) ack 101
+.1 < . 101:101(0) ack 3001 win 30000
+0 close(4) = 0
+0 > F. 3001:3001(0) ack 101
+.1 < F. 101:101(0) ack 3002 win 30000
+0 > . 3002:3002(0) ack 102
+0 `sockstat | grep -c TIME_WAIT | grep 1`
)";

TEST(IngotStack, ServesAScriptedClient) {
  EXPECT_EQ(drive(server), "passed");
  EXPECT_EQ(drive("--ip_version=ipv6" + std::string(server)).substr(0, 2), "9:") << "another MSS";
  std::string other(server);
  other.replace(other.find("[65700]"), 7, "[65701]");
  EXPECT_EQ(drive(other), "11: the option SO_RCVBUF is 65700, expected 65701");
}

TEST(IngotStack, IsRefusedByIcmpAndByReset) {
  constexpr std::string_view begin =
      "--ip_version=ipv6\n0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 fcntl(3, F_SETFL, O_RDWR|O_NONBLOCK) = 0\n"
      "+0 connect(3, ..., ...) = -1 EINPROGRESS (Operation now in progress)\n+0 > S 0:0(0) <...>\n";
  EXPECT_EQ(drive(std::string(begin) + "+.1 < R. 0:0(0) ack 1 win 0\n"
                                       "+0 getsockopt(3, SOL_SOCKET, SO_ERROR, [ECONNREFUSED], [4]) = 0"),
            "passed");
  EXPECT_EQ(drive(std::string(begin) + "+.1 < icmp unreachable port_unreachable [0:0(0)]\n"
                                       "+0 getsockopt(3, SOL_SOCKET, SO_ERROR, [ECONNREFUSED], [4]) = 0"),
            "passed");
}

TEST(IngotStack, NamesWhatItCannotBeSet) {
  EXPECT_EQ(drive("0 `sysctl -q net.ipv4.tcp_congestion_control=bbr`"), "1: the stack has no setting bbr");
}

}  // namespace
}  // namespace ingot::network_scripts
