#include <gtest/gtest.h>

#include "tests/network/script_reader.h"

namespace ingot::network_scripts {
namespace {

Script read(std::string_view text, const std::set<std::string>& defined = {}) {
  Result<Script> script = read_script(text, defined);
  EXPECT_TRUE(script.ok()) << script.error().text();
  return script.ok() ? std::move(script).value() : Script();
}

std::string refusal(std::string_view text) {
  const Result<Script> script = read_script(text);
  EXPECT_FALSE(script.ok()) << text;
  return script.ok() ? "" : std::string(script.error().text());
}

PacketLine packet(std::string_view text) {
  const Script script = read("0 " + std::string(text));
  return script.events.size() == 1 ? std::get<PacketLine>(script.events[0].action) : PacketLine();
}

CallLine call(std::string_view text) {
  const Script script = read("0 " + std::string(text));
  return script.events.size() == 1 ? std::get<CallLine>(script.events[0].action) : CallLine();
}

TEST(ScriptReader, ReadsTimes) {
  const Script script = read("1.5 `a`\n+.25 `b`\n* `c`\n1~2.000001 `d`\n+ 0.1~+1 `e`\n`f`");
  ASSERT_EQ(script.events.size(), 6u);
  using Kind = EventTime::Kind;
  const auto expect = [&](std::size_t index, Kind kind, Microseconds begin, Microseconds end) {
    const EventTime& time = script.events[index].time;
    EXPECT_EQ(time.kind, kind) << index;
    EXPECT_EQ(time.begin, begin) << index;
    EXPECT_EQ(time.end, end) << index;
    EXPECT_EQ(script.events[index].at.line, static_cast<int>(index) + 1);
  };
  expect(0, Kind::absolute, 1'500'000, 0);
  expect(1, Kind::relative, 250'000, 0);
  expect(2, Kind::any, 0, 0);
  expect(3, Kind::absolute_range, 1'000'000, 2'000'001);
  expect(4, Kind::relative_range, 100'000, 1'000'000);
  expect(5, Kind::relative, 0, 0);
}

TEST(ScriptReader, ReadsOptionsCommentsAndConditions) {
  constexpr std::string_view text =
      "// a comment\n--ip_version=ipv6\n--mtu=1280\n--strict_segments\n/* two\n lines */\n"
      "#ifdef ONE\n0 `one`\n#endif\n#ifdef TWO\n+0 `two` ) garbage\n#endif\n+1 `three`";
  const Script script = read(text, {"ONE"});
  using Option = std::pair<std::string, std::string>;
  EXPECT_EQ(script.options, (std::vector<Option>{{"ip_version", "ipv6"}, {"mtu", "1280"}, {"strict_segments", ""}}));
  ASSERT_EQ(script.events.size(), 2u);
  EXPECT_EQ(std::get<CommandLine>(script.events[0].action).text, "one");
  EXPECT_EQ(std::get<CommandLine>(script.events[1].action).text, "three");
}

TEST(ScriptReader, ReadsTcpPackets) {
  const PacketLine out =
      packet("> [ect0] SEW 0:0(0) win 65535 <mss 1460,nop,wscale 6,sackOK,TS val 100 ecr 0,FO 0a1b,eol>");
  EXPECT_TRUE(out.is_outgoing);
  EXPECT_EQ(out.flags, TcpFlag::syn | TcpFlag::echo | TcpFlag::reduced);
  EXPECT_EQ(out.window, 65535);
  EXPECT_EQ(out.service.mask, 3);
  EXPECT_EQ(out.service.value, 2);
  ASSERT_EQ(out.options.size(), 7u);
  EXPECT_EQ(out.options[0], (TcpOption{.kind = 2, .numbers = {1460}, .bytes = {}}));
  EXPECT_EQ(out.options[2], (TcpOption{.kind = 3, .numbers = {6}, .bytes = {}}));
  EXPECT_EQ(out.options[4], (TcpOption{.kind = 8, .numbers = {100, 0}, .bytes = {}}));
  EXPECT_EQ(out.options[5], (TcpOption{.kind = 34, .numbers = {}, .bytes = {0x0a, 0x1b}}));

  const PacketLine in = packet("< (tos 0x28) FP. 1001:2001(1000) ack 7 win 257 urg 3 <nop,nop,sack 1:2 5:9>");
  EXPECT_FALSE(in.is_outgoing);
  EXPECT_EQ(in.flags, TcpFlag::fin | TcpFlag::push | TcpFlag::acknowledge);
  EXPECT_EQ(in.sequence, 1001u);
  EXPECT_EQ(in.payload, 1000u);
  EXPECT_EQ(in.acknowledged, 7u);
  EXPECT_EQ(in.urgent, 3);
  EXPECT_EQ(in.service.value, 0x28);
  EXPECT_EQ(in.options[2].numbers, (std::vector<std::uint32_t>{1, 2, 5, 9}));
}

TEST(ScriptReader, ReadsWhatFreebsdAdds) {
  const PacketLine absolute = packet("> (ttl 4) R. 0:0(0)! ack 2 win 0 <nop,nop,md5 valid>/udp(9811 > 1)");
  EXPECT_TRUE(absolute.absolute_sequence);
  EXPECT_EQ(absolute.hop_limit, 4);
  ASSERT_TRUE(absolute.encapsulation.has_value());
  EXPECT_EQ(absolute.encapsulation->from, 9811);
  const PacketLine any = packet("> S. ...(0) ack 1 <TS val ... ecr 5!>");
  EXPECT_TRUE(any.any_sequence);
  EXPECT_TRUE(any.options[0].any_value);
  EXPECT_TRUE(any.options[0].absolute_echo);
  EXPECT_TRUE(packet("> S 0:0(0) <...>").any_options);
  EXPECT_EQ(packet("< . 4294967295:9(10) ack 1").sequence, 4294967295u);  // a range may wrap
}

TEST(ScriptReader, ReadsOtherPackets) {
  const PacketLine icmp = packet("< icmp unreachable frag_needed mtu 1234 [1:1461(1460)]");
  EXPECT_EQ(icmp.protocol, ScriptProtocol::icmp);
  EXPECT_EQ(icmp.icmp_type, "unreachable");
  EXPECT_EQ(icmp.icmp_code, "frag_needed");
  EXPECT_EQ(icmp.icmp_mtu, 1234u);
  EXPECT_EQ(icmp.sequence, 1u);
  EXPECT_EQ(icmp.payload, 1460u);
  const PacketLine udp = packet("> udp 10 > 20 (300)");
  EXPECT_EQ(udp.protocol, ScriptProtocol::udp);
  EXPECT_EQ(udp.ports->to, 20);
  EXPECT_EQ(udp.payload, 300u);
}

TEST(ScriptReader, ReadsCalls) {
  const CallLine connect = call("...0.18 connect(3, ..., ...) = -1 ETIMEDOUT (Operation timed out)");
  EXPECT_EQ(connect.name, "connect");
  EXPECT_EQ(connect.end, 180'000);
  EXPECT_EQ(connect.arguments[1].kind, Expression::Kind::ellipsis);
  EXPECT_EQ(connect.result.number, -1);
  EXPECT_EQ(connect.error, "ETIMEDOUT");

  const CallLine flags = call("fcntl(4, F_SETFL, O_RDWR|O_NONBLOCK|O_X) = 0x2 (flags O_RDWR)");
  EXPECT_EQ(flags.arguments[2].kind, Expression::Kind::any_of);
  EXPECT_EQ(flags.arguments[2].items[1].text, "O_NONBLOCK");
  EXPECT_EQ(flags.arguments[2].items.size(), 3u);
  EXPECT_EQ(flags.result.number, 2);
  EXPECT_TRUE(flags.error.empty());

  const CallLine wait = call("epoll_ctl(5, EPOLL_CTL_ADD, 4, {events=EPOLLOUT|EPOLLET, fd=4}) = 0");
  const Expression& event = wait.arguments[3];
  EXPECT_EQ(event.kind, Expression::Kind::structure);
  EXPECT_EQ(event.items[0].items[0].text, "events");
  EXPECT_EQ(event.items[0].items[1].items.size(), 2u);

  const CallLine message =
      call("recvmsg(4, {msg_name(...)=..., msg_iov(1)=[{...,0}], msg_flags=MSG_ERRQUEUE, msg_control=[]}, 0) = 0");
  EXPECT_EQ(message.arguments[1].items[1].items[0].kind, Expression::Kind::application);
  EXPECT_EQ(call("open(\"/tmp/x\", O_RDONLY) = 5").arguments[0].text, "/tmp/x");
}

TEST(ScriptReader, ReadsCodeAndLongCommands) {
  const Script script = read("+0 %{ assert a == 1, {}\n}%\n`one\\\n two`");
  EXPECT_EQ(std::get<CodeLine>(script.events[0].action).text, " assert a == 1, {}\n");
  EXPECT_EQ(std::get<CommandLine>(script.events[1].action).text, "one\\\n two");
}

TEST(ScriptReader, SaysWhereAndWhatItExpected) {
  EXPECT_EQ(refusal("0 > S 0:0(0) win 70000"), "1:18: expected a window of 16 bits, found the number 70000");
  EXPECT_EQ(refusal("0 `a`\n+0 close 3) = 0"), "2:10: expected '(', found the number 3");
  EXPECT_EQ(refusal("0 > X 0:0(0)"), "1:7: expected flags of FSRPUEWN behind X, found the number 0");
  EXPECT_EQ(refusal("0 > . 1:5(3)"), "1:12: expected a range that its payload fits, found ')'");
  EXPECT_EQ(refusal("0 < S 0:0(0) <...>"), "1:15: expected options, as the packet comes in, found '...'");
  EXPECT_EQ(refusal("socket() = 3"), "1:1: expected a time in seconds, found the word socket");
  EXPECT_EQ(refusal("0 `open"), "1:8: expected the closing quote, found the end");
  EXPECT_EQ(refusal("#ifdef A\n0 `a`"), "2:6: expected #endif, found the end");
  EXPECT_EQ(refusal("2~1 `a`"), "1:5: expected a range's end behind its begin, found a command");
  EXPECT_EQ(refusal("0 > S 0:0(0) <mss 1460,foo 1>"),
            "1:28: expected eol, nop, mss, wscale, sackOK, sack, TS, md5, FO or FOEXP instead of foo before it, found "
            "the number 1");
  const std::string deep(100, '[');
  EXPECT_NE(refusal("0 f(" + deep).find("fewer brackets"), std::string::npos);
  EXPECT_NE(refusal("99999999999999999999 `a`").find("a number of at most"), std::string::npos);
}

}  // namespace
}  // namespace ingot::network_scripts
