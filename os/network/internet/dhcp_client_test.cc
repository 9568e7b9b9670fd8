#include "os/network/internet/dhcp_client.h"

#include "os/network/internet/test_network.h"

namespace ingot::os::network::test {
namespace {

// A server that a test scripts.
class DhcpTest : public ::testing::Test {
 protected:
  enum Kind : std::uint8_t { discover = 1, offer = 2, request = 3, decline = 4, ack = 5, nak = 6 };
  struct Asked {
    std::uint8_t kind = 0;
    Frame transaction, client, requested, server, destination;
    std::string host_name;
  };

  DhcpTest() {
    Configuration wanted;
    wanted.asks_dhcp = true;
    wanted.asks_routers = false;
    EXPECT_TRUE(host_.stack.add(host_.link, wanted).ok());
  }
  static Frame part(const Frame& frame, std::size_t at, std::size_t count) {
    return {frame.begin() + std::ptrdiff_t(at), frame.begin() + std::ptrdiff_t(at + count)};
  }
  // What the client has sent to servers since.
  std::vector<Asked> asked() {
    std::vector<Asked> all;
    for (const Frame& frame : host_.link.take()) {
      if (frame.size() < 282 || big16(frame, 12) != 0x0800 || big16(frame, 36) != 67) continue;
      EXPECT_GE(frame.size(), 42 + 300u);
      Asked one;
      one.destination = part(frame, 30, 4);
      one.transaction = part(frame, 46, 4);
      one.client = part(frame, 54, 4);
      EXPECT_EQ(part(frame, 70, 6), (Frame{2, 0, 0, 0, 0, 1}));
      for (std::size_t at = 282; frame.at(at) != 255;) {
        const std::size_t bytes = frame.at(at + 1);
        const Frame value = part(frame, at + 2, bytes);
        if (frame[at] == 53) one.kind = value.at(0);
        if (frame[at] == 50) one.requested = value;
        if (frame[at] == 54) one.server = value;
        if (frame[at] == 12) one.host_name.assign(value.begin(), value.end());
        at += 2 + bytes;
      }
      all.push_back(one);
    }
    return all;
  }
  Asked last() {
    const std::vector<Asked> all = asked();
    return all.empty() ? Asked{} : all.back();
  }
  static void add(Frame& to, const Frame& more) { to.insert(to.end(), more.begin(), more.end()); }
  Frame lease(std::uint32_t count) { return joined(Big32(count), {}); }
  Frame usual(std::uint32_t count = 3600) {
    Frame options{1, 4, 255, 255, 255, 0, 3, 4, 10, 0, 2, 2, 6, 4, 10, 0, 2, 3, 26, 2, 5, 0x78, 51, 4};
    add(options, lease(count));
    return options;
  }
  Frame reply(std::uint8_t kind, const Frame& transaction, const Frame& options, std::uint8_t last_byte = 15) {
    Frame message{2, 1, 6, 0};
    add(message, transaction);
    add(message, Frame(8));
    add(message, {10, 0, 2, last_byte});
    add(message, Frame(8));
    add(message, {2, 0, 0, 0, 0, 1});
    add(message, Frame(10 + 64 + 128));
    add(message, {0x63, 0x82, 0x53, 0x63, 53, 1, kind, 54, 4, 10, 0, 2, 2});
    add(message, options);
    message.push_back(255);
    return message;
  }
  void answer(const Frame& message) {
    host_.receive(
        ethernet(FrameKind::ipv4, ipv4(server_, IpAddress::v4(255, 255, 255, 255), udp(67, 68, message)), everybody));
  }
  // From the first question to a lease.
  void get_lease(const Frame& options) {
    const Asked first = last();
    ASSERT_EQ(first.kind, discover);
    answer(reply(offer, first.transaction, options));
    const Asked second = last();
    ASSERT_EQ(second.kind, request);
    answer(reply(ack, second.transaction, options));
    host_.advance(seconds(3));
  }
  bool is_bound() { return host_.stack.internet().is_ours(ours_); }
  const DhcpCounters& counters() { return host_.counters().dhcp; }

  IpAddress server_ = IpAddress::v4(10, 0, 2, 2), ours_ = IpAddress::v4(10, 0, 2, 15);
  TestHost host_{1};
};

TEST_F(DhcpTest, TakesWhatIsOfferedAfterNobodyAnsweredForIt) {
  const Asked first = last();
  EXPECT_EQ(first.kind, discover);
  EXPECT_EQ(first.host_name, "guest");
  EXPECT_EQ(first.destination, (Frame{255, 255, 255, 255}));
  answer(reply(offer, first.transaction, usual()));
  const Asked second = last();
  EXPECT_EQ(second.kind, request);
  EXPECT_EQ(second.requested, (Frame{10, 0, 2, 15}));
  EXPECT_EQ(second.server, (Frame{10, 0, 2, 2}));
  answer(reply(ack, second.transaction, usual()));
  EXPECT_FALSE(is_bound()) << "it is probed first";
  host_.advance(seconds(1));
  EXPECT_TRUE(is_bound());
  const Configuration& told = host_.configurations.back();
  EXPECT_EQ(told.addresses.end()[-1], (AddressWithPrefix{ours_, 24}));
  EXPECT_EQ(*told.gateways.begin(), server_);
  EXPECT_EQ(*told.name_servers.begin(), IpAddress::v4(10, 0, 2, 3));
  EXPECT_EQ(told.mtu, 1400);
  EXPECT_EQ(host_.stack.internet().route(IpAddress::v4(8, 8, 8, 8), {}).value().next_hop, server_);
}

TEST_F(DhcpTest, AsksAgainEverLater) {
  std::vector<Nanoseconds> times;
  for (int i = 0; i < 200; ++i) {
    if (!asked().empty()) times.push_back(host_.machine.time);
    host_.advance(seconds(1));
  }
  ASSERT_GE(times.size(), 6u);
  for (std::size_t i = 2; i + 1 < times.size(); ++i) EXPECT_GT(times[i + 1] - times[i], times[i] - times[i - 1]);
}

TEST_F(DhcpTest, ALostAcknowledgmentIsAskedForThenAllBeginsAnew) {
  const Asked first = last();
  answer(reply(offer, first.transaction, usual()));
  asked();
  host_.advance(seconds(60));
  const std::vector<Asked> all = asked();
  ASSERT_GE(all.size(), 4u);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(all[std::size_t(i)].kind, request);
  EXPECT_EQ(all[3].kind, discover);
  EXPECT_NE(all[3].transaction, first.transaction);
}

TEST_F(DhcpTest, ARefusalBeginsAnew) {
  answer(reply(offer, last().transaction, usual()));
  answer(reply(nak, last().transaction, {}));
  EXPECT_EQ(counters().refusals, 1u);
  host_.advance(seconds(2));
  EXPECT_EQ(last().kind, discover);
}

TEST_F(DhcpTest, RenewsWithTheServerThenWithAnyThenLosesIt) {
  get_lease(usual(1000));
  ASSERT_TRUE(is_bound());
  host_.link.take();
  host_.receive(arp(ArpPacket::reply, 9, server_, ours_, hardware(1)));
  host_.advance(seconds(498));
  host_.receive(arp(ArpPacket::reply, 9, server_, ours_, hardware(1)));
  const Asked renewal = last();
  EXPECT_EQ(renewal.kind, request);
  EXPECT_EQ(renewal.client, (Frame{10, 0, 2, 15}));
  EXPECT_EQ(renewal.destination, (Frame{10, 0, 2, 2})) << "to it alone";
  EXPECT_TRUE(renewal.requested.empty() && renewal.server.empty());
  const std::size_t told = host_.configurations.size();
  answer(reply(ack, renewal.transaction, usual(1000)));
  EXPECT_EQ(host_.configurations.size(), told) << "nothing is new";
  EXPECT_EQ(counters().leases, 2u);
  host_.link.take();
  host_.advance(seconds(900));
  const Asked rebinding = last();
  EXPECT_EQ(rebinding.destination, (Frame{255, 255, 255, 255}));
  EXPECT_TRUE(is_bound());
  host_.advance(seconds(120));
  EXPECT_FALSE(is_bound());
  EXPECT_EQ(counters().expired, 1u);
  EXPECT_EQ(last().kind, discover);
  EXPECT_TRUE(host_.configurations.back().gateways.is_empty());
}

TEST_F(DhcpTest, AnInfiniteLeaseIsNotRenewed) {
  get_lease(usual(~0u));
  host_.advance(seconds(100'000'000));
  EXPECT_TRUE(is_bound());
}

TEST_F(DhcpTest, DeclinesWhatIsTaken) {
  answer(reply(offer, last().transaction, usual()));
  answer(reply(ack, last().transaction, usual()));
  host_.advance(milliseconds(100));
  host_.receive(arp(ArpPacket::reply, 9, ours_, IpAddress::v4(0, 0, 0, 0), hardware(1)));
  const Asked said = last();
  EXPECT_EQ(said.kind, decline);
  EXPECT_EQ(said.requested, (Frame{10, 0, 2, 15}));
  EXPECT_EQ(said.server, (Frame{10, 0, 2, 2}));
  EXPECT_FALSE(is_bound());
  EXPECT_EQ(host_.taken, std::vector<IpAddress>{ours_});
  host_.advance(seconds(9));
  EXPECT_TRUE(asked().empty());
  host_.advance(seconds(2));
  EXPECT_EQ(last().kind, discover);
}

TEST_F(DhcpTest, ASecondConflictEndsTheLease) {
  get_lease(usual());
  host_.advance(seconds(20));
  host_.link.take();
  host_.receive(arp(ArpPacket::request, 9, ours_, ours_));
  EXPECT_TRUE(is_bound()) << "defended";
  host_.receive(arp(ArpPacket::request, 9, ours_, ours_));
  EXPECT_FALSE(is_bound());
  EXPECT_EQ(last().kind, decline);
}

TEST_F(DhcpTest, ALinkThatComesBackAsksForWhatItHad) {
  get_lease(usual());
  const auto set_up = [&](bool up) {
    host_.link.up = up;
    host_.stack.link_changed(host_.link);
  };
  set_up(false);
  host_.advance(seconds(5));
  EXPECT_TRUE(asked().empty());
  set_up(true);
  Asked again = last();
  EXPECT_EQ(again.kind, request);
  EXPECT_EQ(again.requested, (Frame{10, 0, 2, 15}));
  EXPECT_TRUE(again.server.empty());
  answer(reply(ack, again.transaction, usual()));
  host_.advance(seconds(3));
  EXPECT_TRUE(is_bound());
  set_up(false);
  set_up(true);
  again = last();
  answer(reply(nak, again.transaction, {}));
  EXPECT_FALSE(is_bound()) << "another network";
  set_up(false);
  set_up(true);
  EXPECT_EQ(last().kind, discover);
}

TEST_F(DhcpTest, HostileRepliesChangeNothing) {
  const Frame transaction = last().transaction;
  const Frame good = reply(offer, transaction, usual());
  const auto changed = [&](std::size_t at, std::uint8_t to) {
    Frame message = good;
    message.at(at) = to;
    answer(message);
  };
  changed(0, 1);   // a question
  changed(1, 2);   // other hardware
  changed(2, 16);  // a longer address
  changed(4, std::uint8_t(good[4] ^ 1));
  changed(16, 0);    // an address of the network itself
  changed(16, 224);  // of many
  changed(33, 7);    // another's
  changed(236, 0);   // no magic
  changed(241, 2);   // the kind's length
  changed(244, 3);   // three quarters of a server
  for (std::size_t bytes = 0; bytes < 250; ++bytes) answer(Frame(good.begin(), good.begin() + std::ptrdiff_t(bytes)));
  answer(reply(offer, transaction, {1, 4, 255, 0, 255, 0, 51, 4, 0, 0, 1, 0}));  // a mask with a hole
  answer(reply(offer, transaction, {51, 4, 0, 0, 0, 0}));                        // no time
  answer(reply(offer, transaction, {1, 4, 255, 255, 255, 0}));                   // no lease
  answer(reply(offer, transaction, {51, 4, 0, 0, 1, 0, 3, 3, 1, 2, 3}));         // three quarters of a router
  answer(reply(offer, transaction, {51, 4, 0, 0, 1, 0, 12, 250, 'x'}));          // beyond the end
  answer(reply(ack, transaction, usual()));                                      // nobody asked yet
  EXPECT_TRUE(asked().empty());
  EXPECT_EQ(host_.udp.packets.size(), 0u);
  answer(good);
  EXPECT_EQ(last().kind, request);
}

TEST_F(DhcpTest, RepliesOfAnotherServerOrToAnotherQuestionAreIgnored) {
  answer(reply(offer, last().transaction, usual()));
  const Asked second = last();
  Frame other = reply(ack, second.transaction, usual());
  other.at(248) = 99;
  answer(other);
  answer(reply(ack, second.transaction, usual(), 16));
  host_.advance(milliseconds(900));
  EXPECT_EQ(host_.interface().addresses.count_if([](const OwnAddress& address) { return address.address.is_v4(); }),
            0u);
}

TEST_F(DhcpTest, OptionsThatFoundRoomElsewhereAreRead) {
  Frame message = reply(offer, last().transaction, {52, 1, 3});
  const Frame in_file{51, 4, 0, 0, 1, 0, 255}, in_name{3, 4, 10, 0, 2, 2, 255};
  std::copy(in_file.begin(), in_file.end(), message.begin() + 108);
  std::copy(in_name.begin(), in_name.end(), message.begin() + 44);
  answer(message);
  EXPECT_EQ(last().kind, request);
}

TEST_F(DhcpTest, TooNarrowAnMtuIsNotTaken) {
  Frame options = usual();
  options[20] = 1;
  get_lease(options);
  EXPECT_EQ(host_.configurations.back().mtu, 1500);
}

}  // namespace
}  // namespace ingot::os::network::test
