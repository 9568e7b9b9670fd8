#include "os/network/stack.h"

#include "os/network/internet/test_network.h"

namespace ingot::os::network::test {
namespace {

TEST(LoopTest, DeliversAtTheEndOfTheCallWithoutRecursion) {
  // Answers everything, for ever.
  struct Talker final : Transport {
    explicit Talker(TestHost& its_host) : host(its_host) {}
    void received(const Arrival& arrival, Received&& packet) override {
      EXPECT_FALSE(inside);
      inside = true;
      EXPECT_TRUE(packet.transport_verified);
      ++count;
      Outgoing answer;
      answer.chain = &packet.bytes;
      answer.payload_bytes = static_cast<std::uint32_t>(packet.bytes.bytes());
      const Route route = host.stack.internet().route(arrival.from, arrival.to).value();
      EXPECT_TRUE(host.stack.internet().send(route, {arrival.to, arrival.from, Protocol::udp}, answer));
      inside = false;
    }
    void refused(const Refusal&) override {}
    TestHost& host;
    std::size_t count = 0;
    bool inside = false;
  };
  TestHost host(1);
  Talker talker(host);
  host.stack.internet().attach(Protocol::udp, talker);
  host.send(IpAddress::v4(127, 0, 0, 1), "to myself");
  EXPECT_EQ(talker.count, InternetSettings::looped_at_once) << "others get their turn";
  EXPECT_EQ(host.machine.wake, host.machine.time) << "and it goes on";
  host.machine.wake = forever;
  host.stack.run_timers();
  EXPECT_EQ(talker.count, 2 * InternetSettings::looped_at_once);
}

TEST(LoopTest, CarriesBothVersionsAndOurOwnAddresses) {
  TestHost host(1);
  const IpAddress ours_v4 = IpAddress::v4(192, 0, 2, 1);
  ASSERT_TRUE(host.stack.add(host.link, TestHost::fixed(ours_v4, 24)).ok());
  const IpAddress loop_v6(IpAddress::V6{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1});
  for (const IpAddress& to : {ours_v4, loop_v6, IpAddress::v4(127, 0, 0, 1)})
    EXPECT_TRUE(host.send(to, std::string(60000, 'x')));
  EXPECT_EQ(host.udp.packets.size(), 3u);
  EXPECT_EQ(host.udp.packets[1].size(), 60000u);
  EXPECT_EQ(host.udp.arrivals[1].from, loop_v6);
  EXPECT_TRUE(host.link.sent.empty() || icmp_type(host.link.sent[0]) != -1 || is_arp(host.link.sent[0], 1));
}

TEST(LoopTest, IsBounded) {
  TestHost host(1);
  const Route route = host.stack.internet().route(IpAddress::v4(127, 0, 0, 1), {}).value();
  const auto send = [&] {
    Outgoing packet;
    packet.push_header<UdpHeader>() = {1, 2, 8, 0};
    return host.stack.internet().send(route, {route.source, route.source, Protocol::udp}, packet);
  };
  for (std::size_t i = 0; i < InternetSettings::looped_packets; ++i) ASSERT_TRUE(send());
  EXPECT_FALSE(send());
  host.stack.finish();
  EXPECT_EQ(host.udp.packets.size(), InternetSettings::looped_packets);
}

TEST(StackTest, FlushesOnceForABatch) {
  TestHost host(1);
  const IpAddress ours_v4 = IpAddress::v4(192, 0, 2, 1), peer = IpAddress::v4(192, 0, 2, 9);
  ASSERT_TRUE(host.stack.add(host.link, TestHost::fixed(ours_v4, 24)).ok());
  host.advance(seconds(5));
  host.link.flushes = 0;
  std::vector<Received> batch;
  for (int i = 0; i < 10; ++i)
    batch.push_back(host.machine.packet(ethernet(FrameKind::ipv4, ipv4(peer, ours_v4, bytes_of("x")))));
  host.stack.received(host.link, batch);
  EXPECT_EQ(host.link.flushes, 1);
  EXPECT_EQ(host.udp.packets.size(), 10u);
}

TEST(StackTest, ALinkWithoutRoomSaysSoToTheSender) {
  TestHost host(1);
  ASSERT_TRUE(host.stack.add(host.link, TestHost::fixed(IpAddress::v4(192, 0, 2, 1), 24)).ok());
  host.advance(seconds(5));
  host.send(IpAddress::v4(192, 0, 2, 9), "........");
  host.receive(arp(ArpPacket::reply, 9, IpAddress::v4(192, 0, 2, 9), IpAddress::v4(192, 0, 2, 1), hardware(1)));
  host.link.has_room = false;
  EXPECT_FALSE(host.send(IpAddress::v4(192, 0, 2, 9), "........"));
  EXPECT_FALSE(host.send(IpAddress::v4(192, 0, 2, 9), std::string(4000, 'x'))) << "nor its first piece";
}

// A program's two ends of one connection, by the stack's own TCP.
class StreamTest : public ::testing::Test, protected SocketEvents {
 protected:
  StreamTest() {
    for (TestHost* const host : {&wire_.left, &wire_.right})
      host->stack.internet().attach(Protocol::tcp, host->stack.tcp());
    EXPECT_TRUE(wire_.left.stack.add(wire_.left.link, TestHost::fixed(left_, 24)).ok());
    EXPECT_TRUE(wire_.right.stack.add(wire_.right.link, TestHost::fixed(right_, 24)).ok());
    wire_.advance(seconds(5));
  }
  ~StreamTest() {
    for (Reference<TcpConnection>* const end : {&client_, &server_}) {
      if (*end) (*end)->set_events(nullptr);
      if (*end) (*end)->abort(Errno{}, now());
      end->reset();
    }
    wire_.advance(seconds(1));
  }
  void changed(std::uint32_t) override {}
  Nanoseconds now() { return wire_.left.machine.time; }
  // From the left to a listener of `host`.
  void connect(TestHost& host, const IpAddress& to) {
    Binding at(IpVersion::v4), from(IpVersion::v4);
    ASSERT_TRUE(host.stack.tcp().ports().bind(at, {IpAddress::v4(0, 0, 0, 0), 80}).ok());
    Owned<TcpListener> listener = host.stack.tcp().listen(at, 8, {}, *this).value();
    client_ = wire_.left.stack.tcp().connect(from, {to, 80}, {}, *this, now()).value();
    finish();
    Answer<Reference<TcpConnection>> accepted = listener->accept();
    ASSERT_TRUE(accepted.ok());
    server_ = std::move(accepted).value();
    server_->set_events(this);
  }
  void finish() {
    wire_.left.stack.finish();
    wire_.right.stack.finish();
    wire_.pump();
  }
  // All of a text, in as many calls as it takes.
  std::string carry(const std::string& text) {
    if (!server_) return {};
    std::string arrived;
    std::array<char, 8192> room;
    std::size_t sent = 0;
    for (int round = 0; round < 5000 && arrived.size() < text.size(); ++round) {
      KernelTransfer from(std::as_bytes(std::span(text).subspan(sent)));
      const Answer<std::size_t> taken =
          sent == text.size() ? Answer<std::size_t>(std::size_t{0}) : client_->send(from, false, now());
      if (taken.ok()) sent += taken.value();
      finish();
      KernelTransfer to(std::as_bytes(std::span(room)));
      const Answer<std::size_t> given = server_->receive(to, {}, now());
      if (given.ok()) arrived.append(room.data(), given.value());
      finish();
      if (!given.ok()) wire_.advance(milliseconds(20));
    }
    return arrived;
  }

  IpAddress left_ = IpAddress::v4(192, 0, 2, 1), right_ = IpAddress::v4(192, 0, 2, 2);
  TestWire wire_;
  Reference<TcpConnection> client_, server_;
};

std::string numbered(std::size_t bytes) {
  std::string text;
  while (text.size() < bytes) text += std::to_string(text.size()) + " ";
  text.resize(bytes);
  return text;
}

TEST_F(StreamTest, ArrivesOverTheLoop) {
  connect(wire_.left, IpAddress::v4(127, 0, 0, 1));
  const std::string text = numbered(3'000'000);
  EXPECT_EQ(carry(text), text);
}

TEST_F(StreamTest, ArrivesOverAWire) {
  connect(wire_.right, right_);
  const std::string text = numbered(1'000'000);
  EXPECT_EQ(carry(text), text);
}

TEST_F(StreamTest, GoesOnWhenItsLinkHasRoomAgain) {
  connect(wire_.right, right_);
  ASSERT_TRUE(server_);
  wire_.left.link.has_room = false;
  const std::string text = "it waits";
  KernelTransfer from(std::as_bytes(std::span(text)));
  ASSERT_TRUE(client_->send(from, false, now()).ok());
  finish();
  EXPECT_EQ(server_->unread_bytes(), 0u);
  wire_.left.link.has_room = true;
  wire_.left.stack.link_changed(wire_.left.link);
  wire_.pump();
  EXPECT_EQ(server_->unread_bytes(), text.size());
}

TEST_F(StreamTest, ToAPortThatNobodyHasIsRefused) {
  Binding from(IpVersion::v4);
  client_ = wire_.left.stack.tcp().connect(from, {right_, 81}, {}, *this, now()).value();
  finish();
  EXPECT_EQ(client_->take_error(), Errno::econnrefused);
}

TEST_F(StreamTest, ToAHostThatIsNotThereSaysWhyItFailed) {
  Binding from(IpVersion::v4);
  client_ = wire_.left.stack.tcp().connect(from, {IpAddress::v4(192, 0, 2, 77), 81}, {}, *this, now()).value();
  finish();
  wire_.advance(seconds(200));
  EXPECT_EQ(client_->take_error(), Errno::ehostunreach);
}

// A host that has everything that a stranger could touch.
Configuration everything() {
  Configuration wanted = TestHost::fixed(IpAddress::v4(192, 0, 2, 1), 24, IpAddress::v4(192, 0, 2, 254));
  wanted.addresses.push_back({v6(0x2001, 0xdb8, 1), 64});
  wanted.asks_dhcp = true;
  return wanted;
}

// Frames of every kind that is understood, to be changed at random.
std::vector<Frame> seeds() {
  const IpAddress ours_v4 = IpAddress::v4(192, 0, 2, 1), peer = IpAddress::v4(192, 0, 2, 9);
  const IpAddress own_v6 = v6(0x2001, 0xdb8, 1), peer_v6 = v6(0x2001, 0xdb8, 9), router = v6(0xfe80, 0, 2);
  V4Fields first;
  first.fragment = 0x2000;
  V4Fields last;
  last.fragment = 1;
  V4Fields routed;
  routed.options = {7, 7, 4, 0, 0, 0, 0, 0};
  const Frame quote = ipv4(ours_v4, peer, Frame(8), {Protocol::tcp});
  Frame advertisement(8);
  for (const Frame& option : {Frame{3, 4, 64, 0xc0, 0, 0, 9, 9, 0, 0, 8, 8, 0, 0, 0, 0}, bytes_of(v6(0x2001, 0xdb8, 0)),
                              Frame{25, 3, 0, 0, 0, 0, 9, 9}, bytes_of(peer_v6), Frame{5, 1, 0, 0, 0, 0, 5, 0}}) {
    advertisement.insert(advertisement.end(), option.begin(), option.end());
  }
  std::vector<Frame> all{arp(1, 9, peer, ours_v4), arp(2, 9, peer, ours_v4, hardware(1)), arp(1, 9, ours_v4, ours_v4)};
  for (const Frame& packet :
       {ipv4(peer, ours_v4, udp(1, 2, Frame(20))), ipv4(peer, ours_v4, udp(67, 68, Frame(300, 2))),
        ipv4(peer, ours_v4, Frame(8), first), ipv4(peer, ours_v4, Frame(8), last),
        ipv4(peer, ours_v4, Frame(8), routed), ipv4(peer, ours_v4, icmp(8, 0, 1, Frame(20)), {Protocol::icmp}),
        ipv4(peer, ours_v4, icmp(3, 4, 1000, quote), {Protocol::icmp}),
        ipv4(peer, ours_v4, Frame(30), {Protocol::tcp})}) {
    all.push_back(ethernet(FrameKind::ipv4, packet));
  }
  for (const Frame& packet :
       {ipv6(peer_v6, own_v6, Protocol::udp, Frame(20)),
        ipv6(peer_v6, own_v6, Protocol::hop_by_hop, {60, 0, 1, 4, 0,  0, 0, 0, 43, 0, 1, 4, 0, 0, 0, 0, 44, 0, 2, 0,
                                                     0,  0, 0, 0, 17, 0, 0, 1, 0,  0, 0, 1, 1, 2, 3, 4, 5,  6, 7, 8}),
        icmpv6(peer_v6, own_v6, 128, 0, 1, Frame(20)), icmpv6(peer_v6, own_v6, 135, 0, 0, bytes_of(own_v6)),
        icmpv6(peer_v6, own_v6, 136, 0, 0, bytes_of(peer_v6)), icmpv6(router, all_nodes, 134, 0, 1800, advertisement),
        icmpv6(peer_v6, own_v6, 2, 0, 1300, ipv6(own_v6, peer_v6, Protocol::tcp, Frame(20)))}) {
    all.push_back(ethernet(FrameKind::ipv6, packet));
  }
  return all;
}

// Sums made right again, so that changes get past them.
void mend(Frame& frame) {
  if (frame.size() >= 34 && big16(frame, 12) == 0x0800) {
    const std::size_t bytes = std::min<std::size_t>((frame[14] & 0xfu) * 4, frame.size() - 14);
    if (bytes < 20) return;
    frame[24] = frame[25] = 0;
    const std::uint16_t sum = sum_of_frame(Frame(frame.begin() + 14, frame.begin() + 14 + std::ptrdiff_t(bytes)));
    frame[24] = std::uint8_t(sum >> 8);
    frame[25] = std::uint8_t(sum);
  }
  const bool is_v6 = frame.size() >= 62 && big16(frame, 12) == 0x86dd && frame[20] == 58;
  const std::size_t icmp_at = is_v6 ? 54 : 34;
  if (!is_v6 && !(frame.size() >= 42 && big16(frame, 12) == 0x0800 && frame[23] == 1)) return;
  frame[icmp_at + 2] = frame[icmp_at + 3] = 0;
  Checksum before;
  if (is_v6) {
    before.add(std::as_bytes(std::span(frame)).subspan(22, 32));
    before.add_number(big16(frame, 18));
    before.add_number(58);
  }
  const std::uint16_t sum = sum_of_frame(Frame(frame.begin() + std::ptrdiff_t(icmp_at), frame.end()), before);
  frame[icmp_at + 2] = std::uint8_t(sum >> 8);
  frame[icmp_at + 3] = std::uint8_t(sum);
}

TEST(StackTest, TwentyThousandHostileFramesLeaveItWhole) {
  std::mt19937 random(18);
  TestHost host(1);
  ASSERT_TRUE(host.stack.add(host.link, everything()).ok());
  const std::vector<Frame> good = seeds();
  for (int i = 0; i < 20000; ++i) {
    Frame frame = good[random() % good.size()];
    for (int changes = int(random() % 4); changes-- > 0;)
      frame[random() % frame.size()] = std::uint8_t(random() % 3 == 0 ? 0xff : random());
    if (random() % 8 == 0) frame.resize(random() % (frame.size() + 1));
    if (random() % 3 != 0) mend(frame);
    host.receive(frame, random() % 2 == 0 ? ~std::size_t{0} : random() % 80);
    if (random() % 4 == 0)
      host.send(IpAddress::v4(192, 0, 2, std::uint8_t(random())), std::string(random() % 3000, 'y'));
    if (random() % 16 == 0) host.advance(milliseconds(std::int64_t(random() % 3000)));
    if (random() % 500 == 0) {
      host.link.up = !host.link.up;
      host.stack.link_changed(host.link);
    }
    host.link.sent.clear();
    ASSERT_LE(host.machine.heap.statistics().live_bytes, 1u << 20) << i;
  }
  EXPECT_TRUE(host.stack.internet().is_ours(IpAddress::v4(127, 0, 0, 1)));
  EXPECT_GT(host.udp.packets.size(), 100u);
  EXPECT_GT(host.counters().icmp.refusals, 10u);
  host.advance(seconds(300));
  EXPECT_EQ(host.stack.internet().reassembly().held_bytes(), 0u);
}

TEST(StackTest, WithoutMemoryPacketsAreLostAndNothingElse) {
  const std::vector<Frame> good = seeds();
  int most = 0;
  for (int left = 0; left <= most + 1; ++left) {
    TestHost host(1);
    host.machine.heap.left = left;
    ASSERT_TRUE(host.stack.add(host.link, everything()).ok());
    for (const Frame& frame : good) {
      host.receive(frame, 20);
      const int kept = std::exchange(host.machine.heap.left, 1 << 30);
      Received payload = host.machine.packet(Frame(2000));
      host.machine.heap.left = kept;
      Outgoing packet;
      packet.chain = &payload.bytes;
      packet.payload_bytes = 2000;
      const Answer<Route> route = host.stack.internet().route(IpAddress::v4(192, 0, 2, 77), {});
      if (route.ok()) {
        EXPECT_TRUE(host.stack.internet().send(
            route.value(), {route.value().source, IpAddress::v4(192, 0, 2, 77), Protocol::udp, 64, 0, true}, packet));
      }
      const Route loop = host.stack.internet().route(IpAddress::v4(127, 0, 0, 1), {}).value();
      Outgoing looped;
      looped.chain = &payload.bytes;
      looped.payload_bytes = 2000;
      EXPECT_TRUE(host.stack.internet().send(loop, {loop.source, loop.source, Protocol::udp}, looped));
      host.stack.finish();
      host.advance(milliseconds(500));
    }
    if (host.machine.heap.left == 0) most = left + 1;
    ASSERT_LT(left, 2000);
    host.machine.heap.left = 1 << 30;
    host.advance(seconds(60));
  }
  EXPECT_GT(most, 50);
}

}  // namespace
}  // namespace ingot::os::network::test
