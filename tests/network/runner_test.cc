// A script whose stack gives the expected answers passes; with any answer changed it fails, and says where.
#include "tests/network/runner.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "tests/network/flow.h"
#include "tests/network/replaying_stack.h"
#include "tests/network/script_reader.h"

namespace ingot::network_scripts {
namespace {

constexpr std::string_view passive = R"(
--tolerance_usecs=4000
  0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
 +0 setsockopt(3, SOL_SOCKET, SO_REUSEADDR, [1], 4) = 0
 +0 bind(3, ..., ...) = 0
 +0 listen(3, 1) = 0
 +0 < S 7:7(0) win 32792 <mss 1000,sackOK,TS val 50 ecr 0>
 +0 > S. 3:3(0) ack 8 win 65535 <mss 1460,sackOK,TS val 100 ecr 50>
+.1 < . 1:1(0) ack 1 win 257 <nop,nop,TS val 60 ecr 100>
 +0 accept(3, ..., ...) = 4
 +0 getsockopt(4, SOL_SOCKET, SO_RCVBUF, [65700], [4]) = 0
 +0 write(4, ..., 4000) = 4000
 +0 > P. 1:4001(4000) ack 1 <nop,nop,TS val 101 ecr 60>
+.1 < . 1:1(0) ack 1001 win 257 <nop,nop,TS val 61 ecr 101>
+.3~+.31 > . 1001:2001(1000) ack 1 <nop,nop,TS val 102 ecr 61>
 +0 < . 2001:3001(1000) ack 4001 win 257 <nop,nop,TS val 62 ecr 102>
 +0 > . 4001:4001(0) ack 1 win 64000 <nop,nop,TS val 102 ecr 61,nop,nop,sack 2001:3001>
 +0 fcntl(4, F_SETFL, O_RDWR|O_NONBLOCK) = 0
 +0 read(4, ..., 100) = -1 EAGAIN (Resource temporarily unavailable)
+.2 `sockstat -4 -P tcp -s | grep packetdril | grep -c ESTABLISHED | grep 1`
 +0 close(4) = 0
  * > F. 4001:4001(0) ack 1 <...>
)";

constexpr std::string_view active = R"(
--ip_version=ipv6
   0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+.08...0.180 connect(3, ..., ...) = 0
  +0 > [ect0] S 0:0(0) <mss 1440,nop,wscale 6,sackOK,eol,eol>
 +.1 < S. 90:90(0) ack 1 win 5792 <mss 974>
  +0 > (ttl 9) . 1:1(0) ack 1
+1.2...2.2 read(3, ..., 1000) = 500
 1.90 < P. 1:501(500) ack 1 win 100
  +0 > . 1:1(0) ack 501
 2.38 close(3) = 0
)";

Script script_of(std::string_view text) {
  Result<Script> script = read_script(text);
  EXPECT_TRUE(script.ok()) << script.error().text();
  return script.ok() ? std::move(script).value() : Script();
}

Verdict replay(std::string_view text, const ReplayChanges& changes = {}, const ComparisonRules& rules = {}) {
  const Script script = script_of(text);
  return run_script(
      script, [&](const Environment& place) { return std::make_unique<ReplayingStack>(script, place, changes); },
      rules);
}

Verdict replay_changed(std::string_view text, int index, const std::function<void(WirePacket&)>& change,
                       const ComparisonRules& rules = {}) {
  ReplayChanges changes;
  changes.packet = [&](int at, SentPacket& sent) {
    if (at != index) return;
    WirePacket packet = from_bytes(sent.bytes).value();
    change(packet);
    sent.bytes = to_bytes(packet);
  };
  return replay(text, changes, rules);
}

std::string told(const Verdict& verdict) {
  const char* kind = verdict.kind == Verdict::Kind::passed   ? "passed"
                     : verdict.kind == Verdict::Kind::failed ? "failed"
                                                             : "not judged";
  return kind + (verdict.kind == Verdict::Kind::passed ? "" : " at " + std::to_string(verdict.line)) +
         (verdict.reason.empty() ? "" : ": " + verdict.reason);
}

TEST(Runner, PassesWhatAnswersAsExpected) { EXPECT_EQ(told(replay(passive)), "passed"); }

TEST(Runner, JoinsSegmentsOfOneLine) {
  ReplayChanges changes;
  changes.segment = 1000;
  EXPECT_EQ(told(replay(passive, changes)), "passed");
  changes.segment = 1500;  // 1500, 1500, 1000
  EXPECT_EQ(told(replay(passive, changes)), "passed");
  changes.packet = [](int index, SentPacket& sent) {
    if (index != 2) return;
    WirePacket packet = from_bytes(sent.bytes).value();
    packet.sequence += 1;
    sent.bytes = to_bytes(packet);
  };
  EXPECT_EQ(told(replay(passive, changes)), "failed at 13: segments that do not go on as one packet would");
  changes.packet = {};
  EXPECT_EQ(replay("--strict_segments" + std::string(passive), changes).kind, Verdict::Kind::failed);
}

TEST(Runner, SeesEveryFieldOfAPacket) {
  using Change = std::function<void(WirePacket&)>;
  struct Case {
    int packet;
    Change change;
    std::string_view reason;
  };
  const std::vector<Case> cases = {
      {0, [](WirePacket& packet) { packet.window = 1; }, "tcp_window: expected 65535, actual 1"},
      {0, [](WirePacket& packet) { packet.flags |= TcpFlag::echo; }, "tcp_ece: expected 0, actual 1"},
      {0, [](WirePacket& packet) { packet.acknowledged += 1; }, "tcp_ack: expected 8, actual 9"},
      {0, [](WirePacket& packet) { packet.options[0].numbers[0] = 1000; }, "<mss 1000,"},
      {0, [](WirePacket& packet) { std::swap(packet.options[0], packet.options[1]); }, "<sackOK,mss 1460,"},
      {0, [](WirePacket& packet) { packet.options.clear(); }, "actual none"},
      {1, [](WirePacket& packet) { packet.sequence += 1; }, "tcp_seq: expected 1, actual 2"},
      {1, [](WirePacket& packet) { packet.payload[7] = 1; }, "payload: expected zeros"},
      {1, [](WirePacket& packet) { packet.payload.push_back(0); }, "payload: expected 4000, actual 4001"},
      {1, [](WirePacket& packet) { packet.flags &= static_cast<std::uint16_t>(~TcpFlag::push); }, "tcp_psh"},
      {1, [](WirePacket& packet) { packet.urgent = 2; }, "tcp_urg_ptr"},
      {2, [](WirePacket& packet) { packet.from.port = 1; }, "no packet was sent"},
      {3, [](WirePacket& packet) { packet.options[5].numbers[1] += 1; }, "sack 2001:3002"},
  };
  for (const Case& one : cases) {
    const Verdict verdict = replay_changed(passive, one.packet, one.change);
    EXPECT_EQ(verdict.kind, Verdict::Kind::failed) << one.reason;
    EXPECT_NE((verdict.reason + verdict.details).find(one.reason), std::string::npos)
        << one.reason << " is not in " << told(verdict);
  }
}

TEST(Runner, SeesFieldsOfTheInternetProtocol) {
  EXPECT_EQ(told(replay(active)), "passed");
  const auto service = [](WirePacket& packet) { packet.service = 1; };
  EXPECT_EQ(told(replay_changed(active, 0, service)),
            "failed at 5: the packet differs: field ip_tos: expected 2, actual 1");
  const auto limit = [](WirePacket& packet) { packet.hop_limit = 8; };
  EXPECT_EQ(told(replay_changed(active, 1, limit)),
            "failed at 7: the packet differs: field ip_ttl: expected 9, actual 8");
}

TEST(Runner, MayLeaveTheOrderOfOptionsToTheStack) {
  const auto change = [](WirePacket& packet) { std::swap(packet.options[0], packet.options[1]); };
  EXPECT_EQ(told(replay_changed(passive, 0, change, {.option_order_matters = false})), "passed");
  const auto value = [](WirePacket& packet) { packet.options[0].numbers[0] = 1; };
  EXPECT_EQ(replay_changed(passive, 0, value, {.option_order_matters = false}).kind, Verdict::Kind::failed);
}

TEST(Runner, LeavesOutWhatIsNotWritten) {
  EXPECT_EQ(told(replay_changed(passive, 1, [](WirePacket& packet) { packet.window = 1; })), "passed");
  const auto all = [](WirePacket& packet) { packet.options.clear(); };
  EXPECT_EQ(told(replay_changed(passive, 4, all)), "passed");
}

TEST(Runner, SeesPacketsThatComeTooEarlyOrLate) {
  for (const Microseconds shift : {-60'000, 80'000}) {
    ReplayChanges changes;
    changes.packet = [&](int index, SentPacket& sent) { sent.time += index == 2 ? shift : 0; };
    const Verdict verdict = replay(passive, changes);
    EXPECT_EQ(verdict.kind, Verdict::Kind::failed) << told(verdict);
    EXPECT_EQ(verdict.line, 15) << told(verdict);
    EXPECT_NE(verdict.reason.find("was expected at"), std::string::npos) << told(verdict);
  }
  ReplayChanges within;
  within.packet = [&](int index, SentPacket& sent) { sent.time += index == 2 ? 40'000 : 0; };
  EXPECT_EQ(told(replay(passive, within)), "passed") << "the range, and the tolerance";
}

TEST(Runner, MissesPackets) {
  ReplayChanges changes;
  changes.packet = [](int index, SentPacket& sent) { sent.time += index == 3 ? 100'000'000 : 0; };
  const Verdict verdict = replay(passive, changes);
  EXPECT_NE(verdict.reason.find("no packet was sent until"), std::string::npos) << told(verdict);
}

TEST(Runner, SeesBrokenChecksums) {
  ReplayChanges changes;
  changes.packet = [](int index, SentPacket& sent) { sent.bytes.back() ^= index == 0 ? 1 : 0; };
  EXPECT_EQ(told(replay(passive, changes)), "failed at 8: a broken packet was sent: the transport's checksum is wrong");
}

TEST(Runner, SeesOtherResultsOfCalls) {
  for (int index = 0; index < 9; ++index) {
    const bool gives_descriptor = index == 0 || index == 4;
    ReplayChanges changes;
    changes.call = [&](int at, std::int64_t& result) {
      if (at == index) result = gives_descriptor ? -EMFILE : result - 1;
    };
    const Verdict verdict = replay(passive, changes);
    EXPECT_EQ(verdict.kind, Verdict::Kind::failed) << index << ": " << told(verdict);
  }
}

// A script that wants something else than the stack answers, which replays the text as it was.
Verdict replay_wanting(std::string text, std::string_view from, std::string_view to) {
  const Script script = script_of(text);
  const Script other = script_of(text.replace(text.find(from), from.size(), to));
  return run_script(other, [&](const Environment& place) {
    return std::make_unique<ReplayingStack>(script, place, ReplayChanges{});
  });
}

TEST(Runner, SeesOtherValuesOfOptions) {
  EXPECT_EQ(told(replay_wanting(std::string(passive), "[65700]", "[65701]")),
            "failed at 11: the option SO_RCVBUF is 65700, expected 65701");
  const std::string ioctl = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 ioctl(3, SIOCINQ, [7]) = 0";
  EXPECT_EQ(told(replay(ioctl)), "passed");
  EXPECT_EQ(told(replay_wanting(ioctl, "[7]", "[8]")), "failed at 2: ioctl answered 7, expected 8");
}

TEST(Runner, SeesWhenACallThatBlocksReturns) {
  EXPECT_EQ(told(replay_wanting(std::string(active), "0.180", "0.150")),
            "failed at 6: the call was expected to return at 0.150000 s and did at 0.180000 s");
}

TEST(Flow, MapsNumbersBothWays) {
  const Endpoint local{IpAddress::v4(10, 0, 0, 1), 8080}, remote{IpAddress::v4(10, 0, 0, 2), 99};
  const Script script = script_of(
      "0 < S 7:7(0) win 1\n0 > S. 3:3(0) ack 8 <TS val 100 ecr 0>\n"
      "0 < . 1:1(0) ack 1 win 9 <TS val 5 ecr 100,sack 5:9>\n0 > . 11:11(0) ack 21 <sack 30:40>");
  const auto line = [&](std::size_t index) { return std::get<PacketLine>(script.events[index].action); };
  Flow flow = Flow::answering(local, remote, 7);
  EXPECT_EQ(flow.to_live(line(0)).value().sequence, 7u);

  WirePacket answer;
  answer.from = local;
  answer.to = remote;
  answer.flags = TcpFlag::syn | TcpFlag::acknowledge;
  answer.sequence = 0xfffffffe;
  answer.acknowledged = 8;
  answer.options = {{.kind = TcpOption::timestamps, .numbers = {12'345, 0}, .bytes = {}}};
  EXPECT_TRUE(flow.owns(answer));
  const WirePacket seen = flow.to_script(answer, line(1));
  EXPECT_EQ(seen.sequence, 3u);
  EXPECT_EQ(seen.acknowledged, 8u);

  EXPECT_FALSE(flow.to_live(line(2)).ok()) << "it echoes what was never sent";
  flow.learn_timestamp(answer, line(1));
  const WirePacket third = flow.to_live(line(2)).value();
  EXPECT_EQ(third.sequence, 8u);
  EXPECT_EQ(third.acknowledged, 0xffffffffu);
  EXPECT_EQ(third.options[0].numbers[1], 12'345u);
  EXPECT_EQ(third.options[1].numbers, (std::vector<std::uint32_t>{3, 7}));  // wrapped

  answer.flags = TcpFlag::acknowledge;
  answer.sequence = 9;
  answer.acknowledged = 28;
  answer.options = {{.kind = TcpOption::sack, .numbers = {37, 47}, .bytes = {}}};
  const WirePacket later = flow.to_script(answer, line(3));
  EXPECT_EQ(later.sequence, 11u);
  EXPECT_EQ(later.acknowledged, 21u);
  EXPECT_EQ(later.options[0].numbers, (std::vector<std::uint32_t>{30, 40}));
  answer.from.port = 1;
  EXPECT_FALSE(flow.owns(answer));
}

TEST(Runner, DoesNotJudgeWhatItDoesNotKnow) {
  EXPECT_EQ(told(replay("0 unheard_of(3) = 0")), "not judged at 1: the call unheard_of");
  EXPECT_EQ(told(replay("0 socket(AF_UNHEARD, 1, 2) = 0")), "not judged at 1: the name AF_UNHEARD");
  EXPECT_EQ(told(replay("0 `reboot`")), "not judged at 1: the command reboot");
  EXPECT_EQ(told(replay("--wire_client\n0 `a`")), "not judged at 1: the option --wire_client");
  EXPECT_EQ(told(replay("0 < S 0:0(0) win 1 <md5 valid>")), "not judged at 1: signatures by MD5");
  EXPECT_EQ(told(replay("0 %{ assert tcpi_rtt == 1 }%")), "not judged at 1: the stack's tcp_info has no tcpi_rtt");
  EXPECT_EQ(told(replay("0 %{ assert 1 == 2 }%")), "failed at 1: does not hold:  assert 1 == 2 ");
}

}  // namespace
}  // namespace ingot::network_scripts
