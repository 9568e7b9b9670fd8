#include "os/network/internet/icmp.h"

#include "os/network/internet/test_network.h"

namespace ingot::os::network::test {
namespace {

class IcmpTest : public ::testing::Test {
 protected:
  IcmpTest() {
    Configuration wanted = TestHost::fixed(local_, 24, gateway_);
    wanted.addresses.push_back({local_v6_, 64});
    wanted.gateways.push_back(v6(0xfe80, 0, 254));
    EXPECT_TRUE(host_.stack.add(host_.link, wanted).ok());
    host_.advance(seconds(20));
    // Those whom we answer are known.
    host_.send(remote_, "........");
    host_.send(remote_v6_, "........");
    host_.receive(arp(ArpPacket::reply, 9, remote_, local_, hardware(1)));
    Frame told = bytes_of(remote_v6_);
    told.insert(told.end(), {2, 1, 2, 0, 0, 0, 0, 9});
    receive_v6(icmpv6(remote_v6_, local_v6_, 136, 0, AdvertisementFlags::solicited, told));
    host_.link.take();
  }
  void receive_v4(const Frame& packet) { host_.receive(ethernet(FrameKind::ipv4, packet)); }
  void receive_v6(const Frame& packet) { host_.receive(ethernet(FrameKind::ipv6, packet)); }
  void receive_icmp(std::uint8_t type, std::uint8_t code, std::uint32_t more, const Frame& rest) {
    receive_v4(ipv4(remote_, local_, icmp(type, code, more, rest), {Protocol::icmp}));
  }
  // What somebody quotes of a datagram of ours.
  Frame quoted(Protocol protocol = Protocol::tcp, std::uint16_t fragment = 0) {
    V4Fields fields;
    fields.protocol = protocol;
    fields.fragment = fragment;
    return ipv4(local_, far_, {0x12, 0x34, 0, 80, 1, 2, 3, 4}, fields);
  }
  std::vector<Frame> errors() {
    std::vector<Frame> found;
    for (Frame& frame : host_.link.take()) {
      if (icmp_type(frame) == 3 || icmp_type(frame) == 1 || icmp_type(frame) == 4) found.push_back(std::move(frame));
    }
    return found;
  }
  const IcmpCounters& counters() { return host_.counters().icmp; }

  IpAddress local_ = IpAddress::v4(192, 0, 2, 1), remote_ = IpAddress::v4(192, 0, 2, 9);
  IpAddress gateway_ = IpAddress::v4(192, 0, 2, 254), far_ = IpAddress::v4(198, 51, 100, 7);
  IpAddress local_v6_ = v6(0x2001, 0xdb8, 1), remote_v6_ = v6(0x2001, 0xdb8, 9), far_v6_ = v6(0x2a00, 1, 1);
  TestHost host_{1};
};

TEST_F(IcmpTest, EchoesComeBackAsTheyWere) {
  receive_icmp(8, 0, 0xabcd0001, bytes_of("ping of any length"));
  receive_v6(icmpv6(remote_v6_, local_v6_, 128, 0, 0xabcd0002, bytes_of("six"), 64));
  const std::vector<Frame> sent = host_.link.take();
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(icmp_type(sent[0]), 0);
  EXPECT_EQ(std::string(sent[0].begin() + 42, sent[0].end()), "ping of any length");
  EXPECT_EQ(sum_of_frame(Frame(sent[0].begin() + 34, sent[0].end())), 0);
  EXPECT_EQ(big16(sent[0], 38), 0xabcd);
  EXPECT_EQ(icmp_type(sent[1]), 129);
  const Checksum before = pseudo_header(local_v6_, remote_v6_, Protocol::icmpv6, 11);
  EXPECT_EQ(sum_of_frame(Frame(sent[1].begin() + 54, sent[1].end()), before), 0);
}

TEST_F(IcmpTest, EchoesToEverybodyAndBrokenOnesAreNot) {
  receive_v4(ipv4(remote_, IpAddress::v4(192, 0, 2, 255), icmp(8, 0, 1, {}), {Protocol::icmp}));
  Frame broken = icmp(8, 0, 1, bytes_of("x"));
  broken[8] ^= 1;
  receive_v4(ipv4(remote_, local_, broken, {Protocol::icmp}));
  receive_v4(ipv4(remote_, local_, Frame(7), {Protocol::icmp}));
  EXPECT_TRUE(host_.link.take().empty());
  EXPECT_EQ(counters().bad, 2u);
}

TEST_F(IcmpTest, EchoesAreLimited) {
  for (int i = 0; i < 3000; ++i) receive_icmp(8, 0, 1, {});
  EXPECT_EQ(host_.link.take().size(), InternetSettings::echoes_per_second);
  host_.advance(milliseconds(10));
  for (int i = 0; i < 30; ++i) receive_icmp(8, 0, 1, {});
  EXPECT_EQ(host_.link.take().size(), 10u);
}

TEST_F(IcmpTest, TransportsHearWhatWasNotDelivered) {
  using Kind = Refusal::Kind;
  const std::vector<std::tuple<int, int, Kind>> cases{{3, 0, Kind::unreachable_network},
                                                      {3, 1, Kind::unreachable_host},
                                                      {3, 3, Kind::unreachable_port},
                                                      {3, 13, Kind::prohibited},
                                                      {11, 0, Kind::expired}};
  for (const auto& [type, code, kind] : cases) {
    receive_icmp(std::uint8_t(type), std::uint8_t(code), 0, quoted());
    ASSERT_FALSE(host_.tcp.refusals.empty());
    const Refusal refusal = host_.tcp.refusals.back();
    EXPECT_EQ(refusal.kind, kind);
    EXPECT_EQ(refusal.from, local_);
    EXPECT_EQ(refusal.to, far_);
    EXPECT_EQ(refusal.source_port, 0x1234);
    EXPECT_EQ(refusal.destination_port, 80);
    EXPECT_EQ(refusal.sequence, 0x01020304u);
  }
  const Frame inner = ipv6(local_v6_, far_v6_, Protocol::udp, {0, 5, 0, 6, 0, 0, 0, 0});
  receive_v6(icmpv6(remote_v6_, local_v6_, 1, 4, 0, inner, 64));
  ASSERT_EQ(host_.udp.refusals.size(), 1u);
  EXPECT_EQ(host_.udp.refusals[0].kind, Kind::unreachable_port);
  EXPECT_EQ(host_.udp.refusals[0].destination_port, 6);
}

TEST_F(IcmpTest, QuotesThatAreNotOursAreNotBelieved) {
  Frame short_quote = quoted();
  short_quote.resize(27);
  receive_icmp(3, 1, 0, short_quote);
  receive_icmp(3, 1, 0, ipv4(remote_, far_, Frame(8)));  // another's
  receive_icmp(3, 1, 0, quoted(Protocol::tcp, 5));       // no first piece
  receive_icmp(3, 1, 0, {});
  receive_icmp(3, 1, 0, Frame(28, 0x41));  // a header of four bytes
  EXPECT_EQ(counters().bad, 5u);
  receive_icmp(5, 1, 0, quoted());  // a redirect
  EXPECT_TRUE(host_.tcp.refusals.empty() && host_.udp.refusals.empty());
}

TEST_F(IcmpTest, TooBigShrinksThePathWithinReason) {
  const auto mtu = [&](const IpAddress& to) { return host_.stack.internet().route(to, {}).value().mtu; };
  receive_icmp(3, 4, 1400, quoted());
  EXPECT_EQ(mtu(far_), 1400);
  EXPECT_EQ(host_.tcp.refusals.back().kind, Refusal::Kind::too_big);
  EXPECT_EQ(host_.tcp.refusals.back().mtu, 1400);
  receive_icmp(3, 4, 68, quoted());
  EXPECT_EQ(mtu(far_), 552) << "nobody is that narrow";
  Frame old = quoted();
  old = ipv4(local_, IpAddress::v4(198, 51, 100, 8), Frame(1480), {Protocol::tcp});
  old.resize(28);
  receive_icmp(3, 4, 0, old);
  EXPECT_EQ(mtu(IpAddress::v4(198, 51, 100, 8)), 1492) << "the next plateau";
  const Frame inner = ipv6(local_v6_, far_v6_, Protocol::tcp, Frame(20));
  receive_v6(icmpv6(remote_v6_, local_v6_, 2, 0, 1000, inner, 64));
  EXPECT_EQ(mtu(far_v6_), 1280);
}

TEST_F(IcmpTest, RefusedPortsAndProtocolsAreSaid) {
  const Frame datagram = udp(5, 6, bytes_of("hello"));
  receive_v4(ipv4(remote_, local_, datagram));
  ASSERT_EQ(host_.udp.arrivals.size(), 1u);
  host_.stack.internet().refuse_port(host_.udp.arrivals[0], std::as_bytes(std::span(datagram)).first(8));
  receive_v4(ipv4(remote_, local_, bytes_of("unknown."), {Protocol{99}}));
  const std::vector<Frame> sent = errors();
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(sent[0].at(35), 3);
  const Frame quote(sent[0].begin() + 42, sent[0].end());
  EXPECT_EQ(quote, [&] {
    Frame whole = ipv4(remote_, local_, datagram);
    whole.resize(28);
    return whole;
  }());
  EXPECT_EQ(sent[1].at(35), 2);
  receive_v6(ipv6(remote_v6_, local_v6_, Protocol{99}, bytes_of("unknown.")));
  receive_v6(ipv6(remote_v6_, local_v6_, Protocol::udp, datagram));
  host_.stack.internet().refuse_port(host_.udp.arrivals[1], std::as_bytes(std::span(datagram)).first(8));
  const std::vector<Frame> sent_v6 = errors();
  ASSERT_EQ(sent_v6.size(), 2u);
  EXPECT_EQ(icmp_type(sent_v6[0]), 4);
  EXPECT_EQ(sent_v6[0].at(61), 6) << "which byte was not understood";
  EXPECT_EQ(icmp_type(sent_v6[1]), 1);
}

TEST_F(IcmpTest, ErrorsAreNeverAboutErrorsBroadcastsOrNobody) {
  const Frame datagram = bytes_of("eight...");
  receive_v4(ipv4(remote_, IpAddress::v4(255, 255, 255, 255), datagram, {Protocol{99}}));
  receive_v6(ipv6(remote_v6_, all_nodes, Protocol{99}, datagram));
  receive_icmp(3, 3, 0, {});
  receive_v4(ipv4(remote_, local_, datagram, {Protocol::icmpv6}));
  EXPECT_TRUE(errors().empty());
}

TEST_F(IcmpTest, ErrorsAreLimited) {
  for (int i = 0; i < 1000; ++i) receive_v4(ipv4(remote_, local_, bytes_of("unknown."), {Protocol{99}}));
  EXPECT_EQ(errors().size(), InternetSettings::errors_per_second);
  EXPECT_EQ(counters().rate_limited, 1000 - InternetSettings::errors_per_second);
}

TEST(TwoStacksTest, PingEachOther) {
  TestWire wire;
  const IpAddress one = IpAddress::v4(192, 0, 2, 1), two = IpAddress::v4(192, 0, 2, 2);
  ASSERT_TRUE(wire.left.stack.add(wire.left.link, TestHost::fixed(one, 24)).ok());
  ASSERT_TRUE(wire.right.stack.add(wire.right.link, TestHost::fixed(two, 24)).ok());
  wire.advance(seconds(5));
  const Frame ping = icmp(8, 0, 1, bytes_of(std::string(3000, 'p')));
  wire.left.send(two, std::string(ping.begin(), ping.end()), Protocol::icmp);
  wire.pump();
  EXPECT_EQ(wire.right.counters().icmp.echoes, 1u);
  EXPECT_EQ(wire.left.counters().icmp.received, 1u) << "its answer, in pieces as well";
  const IpAddress local =
      wire.right.interface().find(two) == nullptr ? IpAddress() : (wire.right.interface().addresses.end() - 1)->address;
  ASSERT_TRUE(local.is_link_local());
  wire.left.send(local, "by neighbour discovery");
  wire.pump();
  EXPECT_EQ(wire.right.udp.packets, std::vector<std::string>{"by neighbour discovery"});
}

}  // namespace
}  // namespace ingot::os::network::test
