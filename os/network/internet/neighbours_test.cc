#include "os/network/internet/neighbours.h"

#include "os/network/internet/test_network.h"

namespace ingot::os::network::test {
namespace {

const IpAddress own_v4 = IpAddress::v4(192, 0, 2, 1), other_v4 = IpAddress::v4(192, 0, 2, 9);

class NeighboursTest : public ::testing::Test {
 protected:
  NeighboursTest() {
    EXPECT_TRUE(host_.stack.add(host_.link, TestHost::fixed(own_v4, 24)).ok());
    host_.advance(seconds(10));
    host_.link.take();
  }
  std::size_t questions() {
    std::size_t count = 0;
    for (const Frame& frame : host_.link.take()) count += is_arp(frame, ArpPacket::request) ? 1 : 0;
    return count;
  }
  void answer(std::uint8_t from = 9) { host_.receive(arp(ArpPacket::reply, from, other_v4, own_v4, hardware(1))); }

  TestHost host_{1};
};

TEST_F(NeighboursTest, ThreePacketsWaitForAnAnswer) {
  for (const char* const text : {"one.", "two.", "three", "four"}) EXPECT_TRUE(host_.send(other_v4, text));
  EXPECT_EQ(questions(), 1u);
  answer();
  const std::vector<Frame> sent = host_.link.take();
  ASSERT_EQ(sent.size(), 3u);
  EXPECT_EQ(std::string(sent[0].begin() + 34, sent[0].end()), "two.");
  EXPECT_EQ(std::string(sent[2].begin() + 34, sent[2].end()), "four");
  EXPECT_TRUE(std::equal(sent[0].begin(), sent[0].begin() + 6, hardware(9).begin()));
  EXPECT_EQ(host_.counters().neighbours.dropped, 1u);
}

TEST_F(NeighboursTest, WithoutAnAnswerTheSenderIsToldAfterThreeQuestions) {
  EXPECT_TRUE(host_.send(other_v4,
                         "\x12\x34\x56\x78"
                         "abcd"));
  host_.advance(seconds(2));
  EXPECT_EQ(questions(), 3u);
  EXPECT_TRUE(host_.udp.refusals.empty());
  host_.advance(seconds(2));
  ASSERT_EQ(host_.udp.refusals.size(), 1u);
  EXPECT_EQ(host_.udp.refusals[0].kind, Refusal::Kind::unreachable_host);
  EXPECT_EQ(host_.udp.refusals[0].to, other_v4);
  EXPECT_EQ(host_.udp.refusals[0].source_port, 0x1234);
  EXPECT_EQ(host_.stack.internet().neighbours().count(), 0u);
}

TEST_F(NeighboursTest, StaleOnesAreAskedAgainWhileTheyAreUsed) {
  host_.send(other_v4, "one.....");
  answer();
  host_.advance(seconds(29));
  host_.link.take();
  host_.send(other_v4, "two.....");
  EXPECT_EQ(questions(), 0u) << "still reachable";
  host_.advance(seconds(2));
  host_.link.take();
  host_.send(other_v4, "three...");
  std::vector<Frame> sent = host_.link.take();
  ASSERT_EQ(sent.size(), 2u) << "a question, and the packet all the same";
  EXPECT_TRUE(is_arp(sent[0], ArpPacket::request));
  EXPECT_TRUE(std::equal(sent[0].begin(), sent[0].begin() + 6, hardware(9).begin())) << "to it alone";
  host_.advance(seconds(4));
  EXPECT_EQ(host_.stack.internet().neighbours().count(), 0u) << "it did not answer";
  EXPECT_EQ(questions(), 2u);
}

TEST_F(NeighboursTest, ArpThatNobodyAskedForMakesNoEntry) {
  host_.receive(arp(ArpPacket::request, 9, other_v4, other_v4));
  host_.receive(arp(ArpPacket::reply, 9, other_v4, own_v4, hardware(1)));
  host_.receive(arp(ArpPacket::request, 9, other_v4, own_v4));
  EXPECT_EQ(host_.stack.internet().neighbours().count(), 0u);
  const std::vector<Frame> sent = host_.link.take();
  ASSERT_EQ(sent.size(), 1u) << "it is answered, though";
  EXPECT_TRUE(is_arp(sent[0], ArpPacket::reply));
}

TEST_F(NeighboursTest, AGratuitousArpChangesAnEntry) {
  host_.send(other_v4, "one.....");
  answer();
  host_.link.take();
  host_.receive(arp(ArpPacket::request, 7, other_v4, other_v4));
  host_.send(other_v4, "two.....");
  const std::vector<Frame> sent = host_.link.take();
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(sent[1].at(5), 7);
}

TEST_F(NeighboursTest, BrokenArpIsCounted) {
  const Frame good = arp(ArpPacket::reply, 9, other_v4, own_v4, hardware(1));
  for (const std::size_t byte : {14u, 16u, 18u, 19u, 20u, 22u}) {
    Frame broken = good;
    broken[byte] ^= 0x81;
    host_.receive(broken);
  }
  host_.receive(Frame(good.begin(), good.begin() + 30));
  EXPECT_EQ(host_.counters().neighbours.bad, 7u);
  EXPECT_TRUE(host_.link.take().empty());
}

TEST_F(NeighboursTest, StrangersCannotMakeUsAskForMoreThanThereIsRoomFor) {
  Configuration wanted = TestHost::fixed(IpAddress::v4(10, 0, 0, 1), 8);
  TestLink second(3);
  ASSERT_TRUE(host_.stack.add(second, wanted).ok());
  host_.send(other_v4, "kept....");
  answer();
  for (int i = 0; i < 2000; ++i) {
    host_.send(IpAddress::v4(10, 1, std::uint8_t(i >> 8), std::uint8_t(i)), "spoofed.");
  }
  EXPECT_EQ(host_.stack.internet().neighbours().count(), InternetSettings::neighbours);
  host_.link.take();
  host_.send(other_v4, "again...");
  EXPECT_EQ(questions(), 0u) << "who answered is still known";
}

TEST_F(NeighboursTest, ALinkThatWentDownForgetsThem) {
  host_.send(other_v4, "one.....");
  answer();
  host_.link.up = false;
  host_.stack.link_changed(host_.link);
  EXPECT_EQ(host_.stack.internet().neighbours().count(), 0u);
}

TEST(OwnAddressTest, IsProbedThenAnnounced) {
  TestHost host(1);
  ASSERT_TRUE(host.stack.add(host.link, TestHost::fixed(own_v4, 24)).ok());
  host.advance(seconds(5));
  std::vector<Frame> arps;
  for (const Frame& frame : host.link.take()) {
    if (big16(frame, 12) == 0x0806) arps.push_back(frame);
  }
  ASSERT_EQ(arps.size(), 5u);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(big16(arps[i], 28), 0) << "a probe has no sender";
  for (int i = 3; i < 5; ++i) EXPECT_EQ(big16(arps[i], 28), 0xc000) << "an announcement has";
}

TEST(OwnAddressTest, ThatSomebodyAnswersForIsNotUsed) {
  TestWire wire;
  ASSERT_TRUE(wire.right.stack.add(wire.right.link, TestHost::fixed(own_v4, 24)).ok());
  wire.advance(seconds(10));
  ASSERT_TRUE(wire.left.stack.add(wire.left.link, TestHost::fixed(own_v4, 24)).ok());
  wire.advance(seconds(5));
  EXPECT_EQ(wire.left.taken, std::vector<IpAddress>{own_v4});
  EXPECT_FALSE(wire.left.stack.internet().is_ours(own_v4));
  EXPECT_TRUE(wire.right.stack.internet().is_ours(own_v4));
}

TEST(OwnAddressTest, IsDefendedOnceInTenSeconds) {
  TestHost host(1);
  ASSERT_TRUE(host.stack.add(host.link, TestHost::fixed(own_v4, 24)).ok());
  host.advance(seconds(20));
  host.link.take();
  for (int i = 0; i < 3; ++i) host.receive(arp(ArpPacket::request, 9, own_v4, own_v4));
  EXPECT_EQ(host.link.take().size(), 1u);
  host.advance(seconds(11));
  host.receive(arp(ArpPacket::request, 9, own_v4, own_v4));
  EXPECT_EQ(host.link.take().size(), 1u);
  EXPECT_TRUE(host.stack.internet().is_ours(own_v4)) << "what was written down is kept";
}

TEST(DuplicateAddressTest, TwoOfTheSameHardwareGetNoLinkLocalAddress) {
  TestWire wire;
  wire.right.link.own.address = {2, 0, 0, 0, 0, 0x55};
  ASSERT_TRUE(wire.right.stack.add(wire.right.link, {}).ok());
  wire.advance(seconds(3));
  const IpAddress local = wire.right.interface().addresses.begin()->address;
  EXPECT_TRUE(local.is_link_local());
  EXPECT_EQ(local.bytes()[8], 0) << "the universal bit is turned";
  EXPECT_EQ(local.bytes()[11], 0xff);
  EXPECT_EQ(local.bytes()[12], 0xfe);
  // As if the switch had renamed it: frames come from elsewhere, addresses are the same.
  ASSERT_TRUE(wire.left.stack.add(wire.left.link, TestHost::fixed(local, 64)).ok());
  wire.advance(seconds(3));
  EXPECT_EQ(wire.left.taken, std::vector<IpAddress>{local});
  EXPECT_TRUE(wire.right.stack.internet().is_ours(local));
}

TEST(OwnAddressTest, IsUsedWhileItIsProbedAgain) {
  TestHost host(1);
  ASSERT_TRUE(host.stack.add(host.link, {}).ok());
  const IpAddress local = host.interface().addresses.begin()->address;
  EXPECT_FALSE(host.stack.internet().is_ours(local));
  host.advance(seconds(3));
  for (const bool up : {false, true}) {
    host.link.up = up;
    host.stack.link_changed(host.link);
    EXPECT_TRUE(host.stack.internet().is_ours(local));
  }
  EXPECT_EQ(host.interface().find(local)->state, OwnAddress::State::tentative);
}

TEST(DuplicateAddressTest, ProbesOfBothAtOnceEndBoth) {
  TestHost host(1);
  ASSERT_TRUE(host.stack.add(host.link, {}).ok());
  const IpAddress local = host.interface().addresses.begin()->address;
  host.advance(milliseconds(10));
  const Frame probe = icmpv6(IpAddress(), solicited_node(local), 135, 0, 0, bytes_of(local));
  host.receive(ethernet(FrameKind::ipv6, probe, {0x33, 0x33, 0xff, 0, 0, 1}));
  EXPECT_EQ(host.taken, std::vector<IpAddress>{local});
}

class DiscoveryTest : public ::testing::Test {
 protected:
  DiscoveryTest() {
    EXPECT_TRUE(host_.stack.add(host_.link, TestHost::fixed(own_, 64)).ok());
    host_.advance(seconds(20));
    host_.link.take();
  }
  static Frame option(std::uint8_t kind, std::uint8_t last) { return {kind, 1, 2, 0, 0, 0, 0, last}; }
  static Frame with(Frame first, const Frame& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
  }
  void receive(const Frame& packet) { host_.receive(ethernet(FrameKind::ipv6, packet)); }

  IpAddress own_ = v6(0x2001, 0xdb8, 1), other_ = v6(0x2001, 0xdb8, 9);
  TestHost host_{1};
};

TEST_F(DiscoveryTest, AsksAndIsAnswered) {
  host_.send(other_, "waiting.");
  std::vector<Frame> sent = host_.link.take();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(icmp_type(sent[0]), 135);
  EXPECT_EQ(sent[0].at(2), 0xff) << "to the solicited-node address";
  EXPECT_EQ(sent[0].at(21), 255);
  receive(icmpv6(other_, own_, 136, 0, AdvertisementFlags::solicited, with(bytes_of(other_), option(2, 9))));
  sent = host_.link.take();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].at(5), 9);
}

TEST_F(DiscoveryTest, AnswersWithAndWithoutTheOption) {
  receive(icmpv6(other_, solicited_node(own_), 135, 0, 0, with(bytes_of(own_), option(1, 9))));
  receive(icmpv6(other_, own_, 135, 0, 0, bytes_of(own_)));
  const std::vector<Frame> sent = host_.link.take();
  ASSERT_EQ(sent.size(), 2u);
  for (const Frame& frame : sent) {
    EXPECT_EQ(icmp_type(frame), 136);
    EXPECT_EQ(frame.at(58), 0x60) << "solicited, overrides";
    EXPECT_EQ(frame.at(5), 9);
  }
  EXPECT_EQ(host_.stack.internet().neighbours().count(), 0u);
}

TEST_F(DiscoveryTest, IsDeafToPieces) {
  const Frame whole = icmpv6(other_, own_, 135, 0, 0, bytes_of(own_));
  const Frame message(whole.begin() + 40, whole.end());
  receive(ipv6(other_, own_, Protocol::fragment, joined(Ipv6Fragment{58, 0, 0, 7}, message), 255));
  EXPECT_TRUE(host_.link.take().empty());
  EXPECT_EQ(host_.counters().icmp.received, 1u) << "it was whole";
}

TEST_F(DiscoveryTest, AnswersProbesToAll) {
  receive(icmpv6(IpAddress(), solicited_node(own_), 135, 0, 0, bytes_of(own_)));
  const std::vector<Frame> sent = host_.link.take();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].at(0), 0x33);
  EXPECT_EQ(sent[0].at(58), 0x20) << "overrides, not solicited";
}

TEST_F(DiscoveryTest, RefusesWhatCannotBe) {
  const Frame target = bytes_of(own_);
  receive(icmpv6(other_, own_, 135, 0, 0, target, 254));                             // from beyond the link
  receive(icmpv6(other_, own_, 135, 1, 0, target));                                  // a code
  receive(icmpv6(other_, own_, 135, 0, 0, with(target, {1, 0, 2, 0, 0, 0, 0, 9})));  // an option without length
  receive(icmpv6(other_, own_, 135, 0, 0, with(target, {1, 2, 2, 0, 0, 0, 0, 9})));  // beyond the end
  receive(icmpv6(other_, own_, 135, 0, 0, bytes_of(all_nodes)));                     // about many
  receive(icmpv6(IpAddress(), solicited_node(own_), 135, 0, 0, with(target, option(1, 9))));  // a probe's hardware
  receive(icmpv6(other_, all_nodes, 136, 0, AdvertisementFlags::solicited, with(bytes_of(other_), option(2, 9))));
  receive(icmpv6(other_, own_, 135, 0, 0, Frame(12)));  // too short
  EXPECT_EQ(host_.counters().neighbours.bad, 8u);
  EXPECT_TRUE(host_.link.take().empty());
}

TEST_F(DiscoveryTest, WithoutOverrideAnotherHardwareAddressOnlyMakesItStale) {
  host_.send(other_, "one.....");
  receive(icmpv6(other_, own_, 136, 0, AdvertisementFlags::solicited, with(bytes_of(other_), option(2, 9))));
  receive(icmpv6(other_, own_, 136, 0, 0, with(bytes_of(other_), option(2, 7))));
  host_.link.take();
  host_.send(other_, "two.....");
  std::vector<Frame> sent = host_.link.take();
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(icmp_type(sent[0]), 135);
  EXPECT_EQ(sent[1].at(5), 9);
  host_.advance(seconds(60));
}

TEST_F(DiscoveryTest, RedirectsAreIgnored) {
  receive(icmpv6(v6(0xfe80, 0, 2), own_, 137, 0, 0, with(bytes_of(v6(0xfe80, 0, 9)), bytes_of(other_))));
  EXPECT_TRUE(host_.link.take().empty());
  EXPECT_EQ(host_.stack.internet().route(other_, {}).value().next_hop, other_);
}

}  // namespace
}  // namespace ingot::os::network::test
