#include "os/network/internet/packet_receiver.h"
#include "os/network/internet/test_network.h"

namespace ingot::os::network::test {
namespace {

class PacketsTest : public ::testing::Test {
 protected:
  PacketsTest() {
    EXPECT_TRUE(host_.stack.add(host_.link, TestHost::fixed(local_, 24, remote_)).ok());
    EXPECT_TRUE(host_.stack.add(second_, TestHost::fixed(local_v6_, 64)).ok());
    host_.advance(seconds(20));
    host_.link.take();
  }
  void receive_v4(const Frame& packet) { host_.receive(ethernet(FrameKind::ipv4, packet)); }
  void receive_v6(const Frame& packet) { host_.receive(ethernet(FrameKind::ipv6, packet)); }
  Frame piece(std::size_t begin, std::size_t end, bool more, std::uint16_t identification = 7) {
    V4Fields fields;
    fields.identification = identification;
    fields.fragment = static_cast<std::uint16_t>(begin / 8 | (more ? 0x2000 : 0));
    return ipv4(remote_, local_, Frame(text_.begin() + std::ptrdiff_t(begin), text_.begin() + std::ptrdiff_t(end)),
                fields);
  }
  Frame piece_v6(std::size_t begin, std::size_t end, bool more, Protocol next = Protocol::udp) {
    const Ipv6Fragment fragment{static_cast<std::uint8_t>(next), 0, static_cast<std::uint16_t>(begin | (more ? 1 : 0)),
                                77};
    return ipv6(remote_v6_, local_v6_, Protocol::fragment,
                joined(fragment, Frame(text_.begin() + std::ptrdiff_t(begin), text_.begin() + std::ptrdiff_t(end))));
  }
  const IpCounters& ip() { return host_.counters().ip; }
  const ReassemblyCounters& pieces() { return host_.counters().reassembly; }

  IpAddress local_ = IpAddress::v4(192, 0, 2, 1), remote_ = IpAddress::v4(192, 0, 2, 9);
  IpAddress local_v6_ = v6(0x2001, 0xdb8, 1), remote_v6_ = v6(0x2001, 0xdb8, 9);
  std::string text_ = "0123456789abcdefghijklmnopqrstuvwxyz";
  TestLink second_{4};
  TestHost host_{1};
};

TEST_F(PacketsTest, GetToTheirTransportWithoutWhatIsBehindThem) {
  Frame packet = ipv4(remote_, local_, bytes_of("datagram"));
  packet.resize(60);  // an Ethernet's least
  receive_v4(packet);
  receive_v4(ipv4(remote_, local_, bytes_of("segment"), {Protocol::tcp}));
  receive_v6(ipv6(remote_v6_, local_v6_, Protocol::udp, bytes_of("of six")));
  ASSERT_EQ(host_.udp.packets, (std::vector<std::string>{"datagram", "of six"}));
  EXPECT_EQ(host_.tcp.packets, std::vector<std::string>{"segment"});
  EXPECT_EQ(host_.udp.arrivals[0].from, remote_);
  EXPECT_EQ(host_.udp.arrivals[0].hop_limit, 64);
  EXPECT_FALSE(host_.udp.arrivals[0].to_many);
}

TEST_F(PacketsTest, HeadersMayLieInSeveralPieces) {
  const Frame frame = ethernet(FrameKind::ipv4, ipv4(remote_, local_, bytes_of("datagram")));
  for (std::size_t cut = 0; cut <= frame.size(); ++cut) host_.receive(frame, cut);
  EXPECT_EQ(host_.udp.packets.size(), frame.size() + 1);
}

TEST_F(PacketsTest, BrokenV4HeadersAreDropped) {
  const Frame good = ipv4(remote_, local_, bytes_of("datagram"));
  for (std::size_t byte = 0; byte < 20; ++byte) {
    for (int bit = 0; bit < 8; ++bit) {
      Frame broken = good;
      broken[byte] = static_cast<std::uint8_t>(broken[byte] ^ 1 << bit);
      receive_v4(broken);
    }
  }
  for (std::size_t bytes = 0; bytes < good.size(); ++bytes)
    receive_v4(Frame(good.begin(), good.begin() + std::ptrdiff_t(bytes)));
  EXPECT_EQ(ip().bad_headers, 160 + good.size());
  EXPECT_TRUE(host_.udp.packets.empty());
}

TEST_F(PacketsTest, OptionsArePassedOverButNotSourceRoutes) {
  V4Fields fields;
  fields.options = {1, 1, 7, 6, 4, 0, 0, 0};
  receive_v4(ipv4(remote_, local_, bytes_of("recorded"), fields));
  fields.options = {0, 9, 9, 9};
  receive_v4(ipv4(remote_, local_, bytes_of("ended"), fields));
  ASSERT_EQ(host_.udp.packets, (std::vector<std::string>{"recorded", "ended"}));
  for (const Frame& options :
       {Frame{131, 4, 4, 0}, Frame{137, 4, 4, 0}, Frame{7, 1, 0, 0}, Frame{7, 5, 0, 0}, Frame{1, 1, 1, 7}}) {
    fields.options = options;
    receive_v4(ipv4(remote_, local_, bytes_of("refused"), fields));
  }
  EXPECT_EQ(ip().bad_headers, 5u);
  EXPECT_EQ(host_.udp.packets.size(), 2u);
}

TEST_F(PacketsTest, OnlyWhatIsForUsFromSomebodyWhoCanBe) {
  receive_v4(ipv4(remote_, IpAddress::v4(192, 0, 2, 7), bytes_of("not ours")));
  receive_v4(ipv4(remote_, IpAddress::v4(127, 0, 0, 1), bytes_of("the loop's")));
  receive_v6(ipv6(remote_v6_, v6(0x2001, 0xdb8, 7), Protocol::udp, bytes_of("not ours")));
  EXPECT_EQ(ip().not_ours, 3u);
  for (const IpAddress& from :
       {local_, IpAddress::v4(127, 0, 0, 1), IpAddress::v4(224, 0, 0, 5), IpAddress::v4(255, 255, 255, 255),
        IpAddress::v4(192, 0, 2, 255), IpAddress::v4(0, 0, 0, 0)}) {
    receive_v4(ipv4(from, local_, bytes_of("from nobody")));
  }
  for (const IpAddress& from : {local_v6_, IpAddress(), all_nodes}) {
    receive_v6(ipv6(from, local_v6_, Protocol::udp, bytes_of("from nobody")));
  }
  EXPECT_EQ(ip().bad_sources, 9u);
  receive_v6(ipv6(IpAddress::v4(1, 2, 3, 4), local_v6_, Protocol::udp, bytes_of("mapped")));
  EXPECT_EQ(ip().bad_headers, 1u);
  EXPECT_TRUE(host_.udp.packets.empty());
}

TEST_F(PacketsTest, FramesForOthersAreDropped) {
  const Frame packet = ipv4(remote_, local_, bytes_of("datagram"));
  host_.receive(ethernet(FrameKind::ipv4, packet, hardware(5)));
  host_.receive(ethernet(FrameKind::ipv4, packet, hardware(1), hardware(1)));
  host_.receive(ethernet(FrameKind{0x1234}, packet));
  host_.receive(Frame(13));
  EXPECT_EQ(ip().bad_frames, 4u);
}

TEST_F(PacketsTest, BroadcastsArriveMarked) {
  receive_v4(ipv4(remote_, IpAddress::v4(255, 255, 255, 255), bytes_of("all")));
  receive_v4(ipv4(remote_, IpAddress::v4(192, 0, 2, 255), bytes_of("subnet")));
  receive_v6(ipv6(remote_v6_, all_nodes, Protocol::udp, bytes_of("nodes")));
  ASSERT_EQ(host_.udp.arrivals.size(), 3u);
  for (const Arrival& arrival : host_.udp.arrivals) EXPECT_TRUE(arrival.to_many);
}

TEST_F(PacketsTest, PiecesBecomeOneInAnyOrder) {
  const std::array<std::pair<int, int>, 3> cuts{{{0, 16}, {16, 24}, {24, 36}}};
  std::array order{0, 1, 2};
  std::uint16_t identification = 1;
  do {
    for (const int i : order) {
      receive_v4(piece(std::size_t(cuts[i].first), std::size_t(cuts[i].second), i != 2, identification));
    }
    ++identification;
  } while (std::next_permutation(order.begin(), order.end()));
  EXPECT_EQ(host_.udp.packets, std::vector<std::string>(6, text_));
  EXPECT_EQ(host_.stack.internet().reassembly().held_bytes(), 0u);
  receive_v6(piece_v6(16, 36, false, Protocol::tcp));
  receive_v6(piece_v6(0, 16, true));
  EXPECT_EQ(host_.udp.packets.size(), 7u) << "the first piece says what it carries";
  EXPECT_EQ(pieces().whole, 7u);
}

TEST_F(PacketsTest, PiecesThatOverlapSpoilThePacket) {
  receive_v4(piece(0, 16, true));
  receive_v4(piece(0, 16, true));  // the same again is no overlap
  receive_v4(piece(8, 24, true));
  receive_v4(piece(16, 36, false));
  receive_v4(piece(0, 16, true));
  EXPECT_TRUE(host_.udp.packets.empty());
  EXPECT_EQ(pieces().overlapping, 1u);
  receive_v6(piece_v6(8, 24, true));
  receive_v6(piece_v6(0, 16, true));
  EXPECT_EQ(pieces().overlapping, 2u);
  receive_v4(piece(16, 36, false, 8));
  receive_v4(piece(16, 32, false, 8));  // a second end
  receive_v4(piece(8, 24, false, 9));
  receive_v4(piece(24, 32, true, 9));  // behind the end
  EXPECT_EQ(pieces().overlapping, 4u);
  EXPECT_EQ(host_.stack.internet().reassembly().held_bytes(), 0u);
}

TEST_F(PacketsTest, PiecesThatCannotBeAreDropped) {
  V4Fields fields;
  fields.fragment = 0x2000;
  receive_v4(ipv4(remote_, local_, bytes_of("not of eight"), fields));
  fields.fragment = 8191;
  receive_v4(ipv4(remote_, local_, bytes_of("longer than any packet"), fields));
  fields.fragment = 0x2000;
  receive_v4(ipv4(remote_, local_, {}, fields));
  EXPECT_EQ(pieces().bad, 3u);
  EXPECT_EQ(host_.stack.internet().reassembly().count(), 0u);
}

TEST_F(PacketsTest, ThePiecesOfAnIncompletePacketGoAfterThirtySecondsAndTheSenderIsTold) {
  receive_v4(piece(0, 16, true));
  receive_v4(piece(16, 24, true, 8));  // not its first: nobody is told
  host_.advance(seconds(29));
  EXPECT_EQ(host_.stack.internet().reassembly().count(), 2u);
  host_.link.take();
  host_.advance(seconds(2));
  EXPECT_EQ(host_.stack.internet().reassembly().count(), 0u);
  EXPECT_EQ(pieces().expired, 2u);
  host_.receive(arp(ArpPacket::reply, 9, remote_, local_, hardware(1)));
  int told = 0;
  for (const Frame& frame : host_.link.take()) told += icmp_type(frame) == 11 && frame.at(35) == 1 ? 1 : 0;
  EXPECT_EQ(told, 1);
}

TEST_F(PacketsTest, WhatStrangersLeaveInPiecesIsBounded) {
  text_.assign(2000, 'x');
  for (std::uint16_t i = 0; i < 500; ++i) {
    receive_v4(piece(0, 1480, true, i));
    ASSERT_LE(host_.stack.internet().reassembly().count(), InternetSettings::incomplete_packets);
    ASSERT_LE(host_.stack.internet().reassembly().held_bytes(), InternetSettings::fragment_bytes);
  }
  for (std::uint16_t at = 0; at < 65000; at += 16) {
    V4Fields fields;
    fields.fragment = static_cast<std::uint16_t>(at / 8 | 0x2000);
    receive_v4(ipv4(remote_, local_, Frame(8), fields));
    ASSERT_LE(host_.stack.internet().reassembly().held_bytes(), InternetSettings::fragment_bytes);
  }
  EXPECT_GT(pieces().no_room, 0u);
}

TEST_F(PacketsTest, AtomicPiecesStandForThemselves) {
  receive_v6(piece_v6(0, 36, false));
  EXPECT_EQ(host_.udp.packets, std::vector<std::string>{text_});
}

TEST_F(PacketsTest, ExtensionHeadersAreWalked) {
  const Frame udp_next{17, 0, 1, 4, 0, 0, 0, 0};
  const auto chain = [&](Protocol first, const Frame& header) {
    Frame rest = header;
    rest.insert(rest.end(), text_.begin(), text_.end());
    receive_v6(ipv6(remote_v6_, local_v6_, first, rest));
  };
  chain(Protocol::hop_by_hop, udp_next);
  chain(Protocol::destination_options, udp_next);
  chain(Protocol::routing, {17, 0, 2, 0, 0, 0, 0, 0});  // at its end
  EXPECT_EQ(host_.udp.packets, std::vector<std::string>(3, text_));
  chain(Protocol::routing, {17, 0, 0, 0, 0, 0, 0, 0});                 // type 0
  chain(Protocol::routing, {17, 0, 2, 1, 0, 0, 0, 0});                 // not at its end
  chain(Protocol::destination_options, {17, 9, 1, 4, 0, 0, 0, 0});     // beyond the packet
  chain(Protocol::destination_options, {17, 0, 5, 9, 0, 0, 0, 0});     // an option beyond the header
  chain(Protocol::destination_options, {17, 0, 0x45, 4, 0, 0, 0, 0});  // discard where unknown
  EXPECT_EQ(ip().bad_headers, 5u);
  EXPECT_EQ(host_.udp.packets.size(), 3u);
  host_.link.take();
  chain(Protocol::destination_options, {17, 0, 0x85, 4, 0, 0, 0, 0});  // and say so
  EXPECT_EQ(host_.counters().icmp.errors_sent, 1u);
  chain(Protocol::nothing, {});
  EXPECT_EQ(host_.udp.packets.size(), 3u);
}

TEST_F(PacketsTest, ChainsOfExtensionHeadersEnd) {
  Frame rest;
  for (int i = 0; i < 100; ++i) rest.insert(rest.end(), {60, 0, 1, 4, 0, 0, 0, 0});
  receive_v6(ipv6(remote_v6_, local_v6_, Protocol::destination_options, rest));
  rest[rest.size() - 8] = 17;
  receive_v6(ipv6(remote_v6_, local_v6_, Protocol::destination_options, rest));
  EXPECT_EQ(ip().bad_headers, 2u);
  EXPECT_TRUE(host_.udp.packets.empty()) << "though there is one at the end";
  rest = {0, 0, 1, 4, 0, 0, 0, 0, 17, 0, 1, 4, 0, 0, 0, 0};
  receive_v6(ipv6(remote_v6_, local_v6_, Protocol::hop_by_hop, rest));
  EXPECT_EQ(ip().unknown_protocols, 1u) << "hop by hop, but not first";
}

TEST(FragmentsTest, GoBothWaysBetweenTwoStacks) {
  TestWire wire;
  const IpAddress one = IpAddress::v4(192, 0, 2, 1), two = IpAddress::v4(192, 0, 2, 2);
  const IpAddress one_v6 = v6(0x2001, 0xdb8, 1), two_v6 = v6(0x2001, 0xdb8, 2);
  Configuration wanted = TestHost::fixed(one, 24);
  wanted.addresses.push_back({one_v6, 64});
  ASSERT_TRUE(wire.left.stack.add(wire.left.link, wanted).ok());
  wanted = TestHost::fixed(two, 24);
  wanted.addresses.push_back({two_v6, 64});
  ASSERT_TRUE(wire.right.stack.add(wire.right.link, wanted).ok());
  wire.advance(seconds(5));
  std::string text(9001, 'x');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>('a' + i % 23);
  for (int round = 0; round < 2; ++round) {  // the first only asks, and drops what there is no room to keep
    EXPECT_TRUE(wire.left.send(two, text));
    EXPECT_TRUE(wire.right.send(one, text));
    EXPECT_TRUE(wire.left.send(two_v6, text));
    EXPECT_TRUE(wire.right.send(one_v6, text));
    wire.pump();
  }
  EXPECT_EQ(wire.right.udp.packets, (std::vector<std::string>{text, text}));
  EXPECT_EQ(wire.left.udp.packets, (std::vector<std::string>{text, text}));
  EXPECT_GE(wire.left.counters().ip.fragments_sent, 28u);
  EXPECT_TRUE(wire.left.send(two, text, Protocol::tcp, false));
  EXPECT_EQ(wire.left.counters().ip.too_long, 1u) << "what must not be cut is dropped";
  EXPECT_TRUE(wire.left.link.take().empty());
  wire.advance(seconds(60));
}

}  // namespace
}  // namespace ingot::os::network::test
