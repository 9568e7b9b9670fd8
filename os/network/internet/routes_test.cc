#include "os/network/internet/routes.h"

#include "os/network/internet/test_network.h"

namespace ingot::os::network::test {
namespace {

class RoutesTest : public ::testing::Test {
 protected:
  Configuration wanted(const IpAddress& address, std::uint8_t bits, const IpAddress& gateway = {}) {
    Configuration made = TestHost::fixed(address, bits, gateway);
    made.asks_routers = false;
    return made;
  }
  Answer<Route> route(const IpAddress& to, const IpAddress& from = {}) {
    return host_.stack.internet().route(to, from);
  }

  IpAddress near_ = IpAddress::v4(192, 0, 2, 1), gateway_ = IpAddress::v4(192, 0, 2, 254);
  IpAddress inner_ = IpAddress::v4(10, 0, 0, 1), far_ = IpAddress::v4(198, 51, 100, 7);
  TestLink second_{2};
  TestHost host_{1};
};

TEST_F(RoutesTest, TheLongestPrefixWins) {
  EXPECT_EQ(route(far_).error(), Errno::enetunreach);
  ASSERT_TRUE(host_.stack.add(host_.link, wanted(near_, 24, gateway_)).ok());
  ASSERT_TRUE(host_.stack.add(second_, wanted(inner_, 8)).ok());
  EXPECT_EQ(route(far_).value().next_hop, gateway_);
  EXPECT_EQ(route(far_).value().source, near_);
  EXPECT_EQ(route(IpAddress::v4(10, 9, 9, 9)).value().link, &second_);
  EXPECT_EQ(route(IpAddress::v4(10, 9, 9, 9)).value().next_hop, IpAddress::v4(10, 9, 9, 9));
  EXPECT_EQ(route(IpAddress::v4(10, 9, 9, 9)).value().source, inner_);
  EXPECT_EQ(route(IpAddress::v4(192, 0, 2, 7)).value().link, &host_.link);
  EXPECT_EQ(route(v6(0x2001, 0xdb8, 1)).error(), Errno::enetunreach) << "IPv4's ways lead to no IPv6";
}

TEST_F(RoutesTest, WhatIsOursGoesByTheLoop) {
  ASSERT_TRUE(host_.stack.add(host_.link, wanted(near_, 24)).ok());
  for (const IpAddress& to : {near_, IpAddress::v4(127, 0, 0, 1), IpAddress::v4(127, 9, 9, 9)}) {
    EXPECT_EQ(route(to).value().link, &host_.stack.internet().loop());
    EXPECT_EQ(route(to).value().source, to);
  }
  EXPECT_EQ(route(near_, IpAddress::v4(127, 0, 0, 1)).value().source, IpAddress::v4(127, 0, 0, 1));
  EXPECT_EQ(route(far_, IpAddress::v4(127, 0, 0, 1)).error(), Errno::enetunreach);
}

TEST_F(RoutesTest, SourcesMustBeOurs) {
  ASSERT_TRUE(host_.stack.add(host_.link, wanted(near_, 24, gateway_)).ok());
  EXPECT_EQ(route(far_, far_).error(), Errno::eaddrnotavail);
  EXPECT_EQ(route(far_, near_).value().source, near_);
  EXPECT_EQ(route(v6(0x2001, 0xdb8, 1), near_).error(), Errno::eaddrnotavail);
}

TEST_F(RoutesTest, BroadcastsGoToEverybody) {
  ASSERT_TRUE(host_.stack.add(host_.link, wanted(near_, 24)).ok());
  for (const IpAddress& to : {IpAddress::v4(255, 255, 255, 255), IpAddress::v4(192, 0, 2, 255)}) {
    EXPECT_TRUE(route(to).value().to_many);
    host_.link.take();
    host_.send(to, "all");
    const std::vector<Frame> sent = host_.link.take();
    ASSERT_EQ(sent.size(), 1u);
    EXPECT_TRUE(std::equal(sent[0].begin(), sent[0].begin() + 6, everybody.begin()));
  }
  host_.send(IpAddress::v4(224, 1, 2, 3), "group");
  const std::vector<Frame> sent = host_.link.take();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].at(0), 1);
  EXPECT_EQ(sent[0].at(5), 3);
  EXPECT_FALSE(route(IpAddress::v4(192, 0, 2, 7)).value().to_many);
}

TEST_F(RoutesTest, SourcesByScopeThenAgeThenPrefix) {
  Interface interface(host_.link);
  const auto add = [&](const IpAddress& address, OwnAddress::State state) {
    OwnAddress own_address{address};
    own_address.state = state;
    interface.addresses.push_back(own_address);
  };
  using State = OwnAddress::State;
  const IpAddress local = v6(0xfe80, 0, 1), old = v6(0x2001, 0xdb9, 1), unlike = v6(0x2a00, 0, 1),
                  fresh = v6(0x2001, 0xdb8, 1);
  add(local, State::preferred);
  EXPECT_EQ(Routes::source_for(interface, v6(0x2001, 0xdb9, 9))->address, local) << "better than none";
  add(old, State::deprecated);
  add(unlike, State::preferred);
  add(fresh, State::preferred);
  add(v6(0x2001, 0xdb9, 2), State::tentative);
  interface.addresses.end()[-1].origin = Origin::router;
  EXPECT_EQ(Routes::source_for(interface, v6(0x2001, 0xdb9, 9))->address, fresh)
      << "like the deprecated one, or nearly";
  EXPECT_EQ(Routes::source_for(interface, v6(0x2a00, 0, 9))->address, unlike);
  EXPECT_EQ(Routes::source_for(interface, v6(0xfe80, 0, 9))->address, local);
  EXPECT_EQ(Routes::source_for(interface, all_nodes)->address, local);
  EXPECT_EQ(Routes::source_for(interface, far_), nullptr);
}

TEST_F(RoutesTest, PathsAreRememberedForTenMinutes) {
  ASSERT_TRUE(host_.stack.add(host_.link, wanted(near_, 24, gateway_)).ok());
  host_.advance(seconds(10));
  const std::uint32_t before = host_.stack.internet().route_version();
  EXPECT_TRUE(host_.stack.internet().routes().path_shrank(far_, 1400, host_.machine.time));
  EXPECT_NE(host_.stack.internet().route_version(), before);
  EXPECT_FALSE(host_.stack.internet().routes().path_shrank(far_, 1450, host_.machine.time)) << "it never grows";
  EXPECT_EQ(route(far_).value().mtu, 1400);
  EXPECT_EQ(route(IpAddress::v4(198, 51, 100, 8)).value().mtu, 1500);
  EXPECT_TRUE(host_.stack.internet().routes().path_shrank(far_, 68, host_.machine.time));
  EXPECT_EQ(route(far_).value().mtu, 552);
  host_.advance(seconds(599));
  EXPECT_EQ(route(far_).value().mtu, 552);
  const std::uint32_t during = host_.stack.internet().route_version();
  host_.advance(seconds(2));
  EXPECT_EQ(route(far_).value().mtu, 1500);
  EXPECT_NE(host_.stack.internet().route_version(), during);
}

TEST_F(RoutesTest, PathsAreBoundedAndTheOldestGo) {
  ASSERT_TRUE(host_.stack.add(host_.link, wanted(near_, 24, gateway_)).ok());
  const auto to = [](int i) { return IpAddress::v4(198, 51, std::uint8_t(i >> 8), std::uint8_t(i)); };
  for (int i = 0; i < 300; ++i) {
    host_.machine.time = seconds(i);
    EXPECT_TRUE(host_.stack.internet().routes().path_shrank(to(i), 1000, host_.machine.time));
  }
  EXPECT_EQ(route(to(299)).value().mtu, 1000);
  EXPECT_EQ(route(to(300 - int(InternetSettings::paths))).value().mtu, 1000);
  EXPECT_EQ(route(to(299 - int(InternetSettings::paths))).value().mtu, 1500);
}

TEST_F(RoutesTest, ConfigurationsThatCannotBeAreRefused) {
  const auto error = [&](const Configuration& made) { return host_.stack.add(host_.link, made).error(); };
  EXPECT_EQ(error(wanted(near_, 33)), Errno::einval);
  EXPECT_EQ(error(wanted(near_, 0)), Errno::einval);
  EXPECT_EQ(error(wanted(IpAddress::v4(224, 0, 0, 1), 24)), Errno::einval);
  EXPECT_EQ(error(wanted(near_, 24, IpAddress::v4(255, 255, 255, 255))), Errno::einval);
  Configuration small = wanted(near_, 24);
  small.mtu = 500;
  EXPECT_EQ(error(small), Errno::einval);
  std::array<TestLink, 5> links{TestLink(11), TestLink(12), TestLink(13), TestLink(14), TestLink(15)};
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(host_.stack.add(links[i], {}).ok());
  EXPECT_EQ(host_.stack.add(links[4], {}).error(), Errno::enospc);
}

class RoutersTest : public ::testing::Test {
 protected:
  RoutersTest() {
    EXPECT_TRUE(host_.stack.add(host_.link, {}).ok());
    host_.advance(seconds(2));
  }
  static Frame number(std::uint32_t value) { return joined(Big32(value), {}); }
  static Frame prefix(const IpAddress& of, std::uint8_t bits, std::uint8_t flags, std::uint32_t valid,
                      std::uint32_t preferred) {
    Frame option{3, 4, bits, flags};
    for (const Frame& part : {number(valid), number(preferred), number(0), bytes_of(of)}) {
      option.insert(option.end(), part.begin(), part.end());
    }
    return option;
  }
  void advertise(std::uint16_t lifetime, const Frame& options, std::uint8_t hops = 255,
                 const IpAddress& from = v6(0xfe80, 0, 2)) {
    Frame rest(8);
    rest.insert(rest.end(), options.begin(), options.end());
    host_.receive(ethernet(FrameKind::ipv6, icmpv6(from, all_nodes, 134, 0, 64u << 24 | lifetime, rest, hops),
                           {0x33, 0x33, 0, 0, 0, 1}));
  }
  const OwnAddress* made() { return host_.interface().find(made_); }
  bool has_way() { return host_.stack.internet().route(v6(0x2a00, 1, 1), {}).ok(); }

  IpAddress prefix_ = v6(0x2001, 0xdb8, 0);
  IpAddress made_{IpAddress::V6{0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xfe, 0, 0, 1}};
  TestHost host_{1};
};

TEST_F(RoutersTest, AreAskedForThreeTimes) {
  host_.advance(seconds(30));
  int asked = 0;
  for (const Frame& frame : host_.link.take()) asked += icmp_type(frame) == 133 ? 1 : 0;
  EXPECT_EQ(asked, 3);
}

TEST_F(RoutersTest, GiveAddressesWaysAndNameServers) {
  Frame options = prefix(prefix_, 64, 0xc0, 7200, 3600);
  const Frame servers{25, 3, 0, 0, 0, 0, 2, 88};
  options.insert(options.end(), servers.begin(), servers.end());
  const Frame server = bytes_of(v6(0x2001, 0xdb8, 0x53));
  options.insert(options.end(), server.begin(), server.end());
  const Frame mtu{5, 1, 0, 0, 0, 0, 5, 0};
  options.insert(options.end(), mtu.begin(), mtu.end());
  advertise(1800, options);
  ASSERT_NE(made(), nullptr);
  EXPECT_FALSE(made()->is_usable()) << "probed first";
  host_.advance(seconds(2));
  EXPECT_TRUE(made()->is_usable());
  EXPECT_TRUE(has_way());
  EXPECT_EQ(host_.stack.internet().route(v6(0x2a00, 1, 1), {}).value().source, made_);
  EXPECT_EQ(host_.stack.internet().route(v6(0x2a00, 1, 1), {}).value().mtu, 1280);
  EXPECT_EQ(host_.stack.internet().route(v6(0x2001, 0xdb8, 7), {}).value().next_hop, v6(0x2001, 0xdb8, 7))
      << "on the link";
  const Configuration& told = host_.configurations.back();
  EXPECT_EQ(told.addresses.size(), 2u);
  EXPECT_EQ(*told.name_servers.begin(), v6(0x2001, 0xdb8, 0x53));
  EXPECT_EQ(*told.gateways.begin(), v6(0xfe80, 0, 2));
  host_.advance(seconds(1000));
  EXPECT_TRUE(host_.configurations.back().name_servers.is_empty()) << "its lifetime was 600 seconds";
  host_.advance(seconds(900));
  EXPECT_FALSE(has_way());
  host_.advance(seconds(1800));
  EXPECT_EQ(made()->state, OwnAddress::State::deprecated);
  host_.advance(seconds(3600));
  EXPECT_EQ(made(), nullptr);
}

TEST_F(RoutersTest, CannotEndAnAddressWithinTwoHours) {
  advertise(1800, prefix(prefix_, 64, 0x40, 86400, 86400));
  host_.advance(seconds(2));
  advertise(1800, prefix(prefix_, 64, 0x40, 1, 1));
  host_.advance(seconds(7100));
  ASSERT_NE(made(), nullptr);
  EXPECT_EQ(made()->state, OwnAddress::State::deprecated);
  advertise(1800, prefix(prefix_, 64, 0x40, 600, 600));  // less than two hours, more than what is left
  host_.advance(seconds(200));
  EXPECT_NE(made(), nullptr);
  host_.advance(seconds(500));
  EXPECT_EQ(made(), nullptr);
}

TEST_F(RoutersTest, GoWhenTheySaySo) {
  advertise(1800, {});
  EXPECT_TRUE(host_.stack.internet().routes().find(v6(0x2a00, 1, 1), {}).ok());
  advertise(0, {});
  EXPECT_FALSE(has_way());
}

TEST_F(RoutersTest, AreNotBelievedWhatCannotBe) {
  const Frame good = prefix(prefix_, 64, 0xc0, 7200, 3600);
  advertise(1800, good, 254);
  advertise(1800, good, 255, v6(0x2001, 0xdb8, 2));
  Frame broken = good;
  broken[1] = 5;
  advertise(1800, broken);
  EXPECT_EQ(host_.counters().neighbours.bad, 3u);
  EXPECT_FALSE(has_way());
  advertise(0, prefix(prefix_, 63, 0x40, 7200, 3600));
  advertise(0, prefix(prefix_, 200, 0xc0, 7200, 3600));
  advertise(0, prefix(prefix_, 64, 0x40, 3600, 7200));
  advertise(0, prefix(v6(0xfe80, 0, 0), 64, 0xc0, 7200, 3600));
  EXPECT_EQ(host_.interface().addresses.size(), 1u);
}

TEST_F(RoutersTest, CannotFillUsUp) {
  for (std::uint8_t i = 0; i < 40; ++i) {
    advertise(1800, prefix(v6(0x2001, i, 0), 64, 0xc0, 7200, 3600), 255, v6(0xfe80, 0, std::uint8_t(i + 2)));
  }
  EXPECT_LE(host_.interface().addresses.size(), InternetSettings::addresses / 2 + 1);
  EXPECT_LE(host_.interface().routes.size(), 2 * InternetSettings::default_routers + 1);
}

TEST_F(RoutersTest, WhatTheyRepeatIsToldOnce) {
  const Frame options = prefix(prefix_, 64, 0xc0, 7200, 3600);
  advertise(1800, options);
  host_.advance(seconds(2));
  const std::size_t told = host_.configurations.size();
  for (int i = 0; i < 5; ++i) {
    advertise(1800, options);
    host_.advance(seconds(1));
  }
  EXPECT_EQ(host_.configurations.size(), told);
}

TEST_F(RoutersTest, AnAddressThatSomebodyHasIsSeldomTriedAgain) {
  host_.advance(seconds(2));
  const std::size_t told = host_.configurations.size();
  const Frame claim = ethernet(FrameKind::ipv6, icmpv6(made_, all_nodes, 136, 0, 0x20000000, bytes_of(made_)),
                               {0x33, 0x33, 0, 0, 0, 1});
  for (int i = 0; i < 30; ++i) {
    advertise(0, prefix(prefix_, 64, 0x40, 7200, 3600));
    host_.receive(claim);
    host_.advance(seconds(1));
  }
  EXPECT_EQ(host_.taken, std::vector<IpAddress>(3, made_));
  EXPECT_EQ(made(), nullptr);
  EXPECT_EQ(host_.configurations.size(), told) << "it was never used";
}

TEST_F(RoutersTest, AreNotListenedToWhereNobodyWantsThem) {
  TestHost host(1);
  Configuration quiet;
  quiet.asks_routers = false;
  ASSERT_TRUE(host.stack.add(host.link, quiet).ok());
  host.advance(seconds(20));
  EXPECT_TRUE(std::none_of(host.link.sent.begin(), host.link.sent.end(),
                           [](const Frame& frame) { return icmp_type(frame) == 133; }));
}

}  // namespace
}  // namespace ingot::os::network::test
