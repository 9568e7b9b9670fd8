#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "os/file/poll.h"
#include "os/network/fake_internet.h"
#include "os/network/udp/udp_socket.h"

namespace ingot::os::network {
namespace {

constexpr IpAddress here = IpAddress::v4(192, 0, 2, 1), there = IpAddress::v4(192, 0, 2, 2);
constexpr IpAddress here_v6{IpAddress::V6{0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};
constexpr IpAddress there_v6{IpAddress::V6{0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2}};
constexpr IpAddress nowhere = IpAddress::v4(0, 0, 0, 0);

class UdpTest : public ::testing::Test {
 protected:
  UdpTest() { internet_.ours = {here, here_v6, IpAddress::v4(127, 0, 0, 1), IpAddress::v4(255, 255, 255, 255)}; }

  static int send(UdpSocket& socket, const std::string& text, std::optional<Endpoint> to = {}) {
    KernelTransfer transfer(std::as_bytes(std::span(text)));
    const Answer<std::size_t> sent = socket.send_to(transfer, to.has_value() ? &*to : nullptr);
    return sent.ok() ? static_cast<int>(sent.value()) : -static_cast<int>(sent.error());
  }
  static std::string receive(UdpSocket& socket, std::size_t room = 100, Reading reading = Reading::takes,
                             DatagramNews* news = nullptr) {
    std::string text(room, '.');
    KernelTransfer transfer(std::as_bytes(std::span(text)));
    DatagramNews told;
    const Answer<std::size_t> received = socket.receive(transfer, reading, told);
    if (news != nullptr) *news = told;
    return received.ok() ? text.substr(0, received.value()) : std::string(name_of(received.error()));
  }
  // One behind the other: which side of a sum is computed first is the compiler's to choose.
  static std::string receive_two(UdpSocket& socket) {
    std::string texts = receive(socket);
    texts += receive(socket);
    return texts;
  }
  // A datagram from the network, with the right checksum unless something else is said.
  void arrive(const Endpoint& from, const Endpoint& to, const std::string& text,
              std::optional<std::uint16_t> checksum = {}, int length_off = 0, bool is_verified = false) {
    std::vector<std::byte> bytes(sizeof(UdpHeader) + text.size());
    UdpHeader header{from.port, to.port, static_cast<std::uint16_t>(static_cast<int>(bytes.size()) + length_off), 0};
    std::memcpy(bytes.data(), &header, sizeof header);
    std::memcpy(bytes.data() + sizeof header, text.data(), text.size());
    Checksum sum = pseudo_header(from.address, to.address, Protocol::udp, static_cast<std::uint32_t>(bytes.size()));
    sum.add(bytes);
    header.checksum = checksum.value_or(sum.result());
    std::memcpy(bytes.data(), &header, sizeof header);
    Received packet = make_received(machine_.blocks(), bytes);
    packet.transport_verified = is_verified;
    udp_.received({from.address, to.address, Protocol::udp, 64, 0, to.address.is_limited_broadcast()},
                  std::move(packet));
  }

  FakeMachine machine_;
  FakeInternet internet_;
  Udp udp_{machine_, internet_};
  EventRecorder events_;
};

TEST_F(UdpTest, WhatIsSentArrivesAtTheOtherEnd) {
  for (const bool device_sums : {false, true}) {
    for (const auto& [ours, theirs] : {std::pair(here, there), std::pair(here_v6, there_v6)}) {
      internet_.link.its_properties.computes_checksums = device_sums;
      UdpSocket socket(udp_, events_, ours.version());
      const std::string text(3000, 'x');
      ASSERT_EQ(send(socket, text, Endpoint{theirs, 53}), 3000);
      SentPacket packet = internet_.take();
      EXPECT_TRUE(packet.travel.may_be_cut);
      EXPECT_EQ(packet.travel.from, ours);
      ASSERT_EQ(packet.bytes.size(), 3008u);
      FakeInternet other_internet;
      other_internet.ours = {theirs};
      Udp other(machine_, other_internet);
      UdpSocket peer(other, events_, theirs.version());
      ASSERT_TRUE(peer.bind({theirs, 53}).ok());
      deliver(packet, machine_.blocks(), other);
      DatagramNews news;
      EXPECT_EQ(receive(peer, 4000, Reading::takes, &news), text) << "longer than the link: summed here in any case";
      EXPECT_EQ(news.from, (Endpoint{ours, socket.local().port}));
      EXPECT_EQ(news.to, theirs);
      EXPECT_EQ(send(socket, "short", Endpoint{theirs, 53}), 5);
      packet = internet_.take();
      Checksum sum = pseudo_header(ours, theirs, Protocol::udp, 13);
      if (!device_sums) sum.add(packet.bytes);
      const std::uint16_t field = reinterpret_cast<const UdpHeader*>(packet.bytes.data())->checksum;
      EXPECT_EQ(device_sums ? field : sum.result(), device_sums ? sum.folded() : 0);
    }
  }
}

TEST_F(UdpTest, TheNearestSocketGetsIt) {
  UdpSocket dual(udp_, events_, IpVersion::v6), all_v4(udp_, events_, IpVersion::v4);
  UdpSocket bound(udp_, events_, IpVersion::v4), connected(udp_, events_, IpVersion::v4);
  for (UdpSocket* socket : {&dual, &all_v4, &bound, &connected}) socket->sharing.address = true;
  ASSERT_TRUE(dual.bind({IpAddress(), 7}).ok());
  arrive({there, 9}, {here, 7}, "to ::");
  ASSERT_TRUE(all_v4.bind({nowhere, 7}).ok());
  arrive({there, 9}, {here, 7}, "to 0.0.0.0");
  ASSERT_TRUE(bound.bind({here, 7}).ok());
  arrive({there, 9}, {here, 7}, "to the address");
  ASSERT_TRUE(connected.bind({nowhere, 7}).ok());
  ASSERT_TRUE(connected.connect({there, 9}).ok());
  arrive({there, 9}, {here, 7}, "to the pair");
  arrive({there, 8}, {here, 7}, "another port");
  arrive({there_v6, 9}, {here_v6, 7}, "of v6");
  EXPECT_EQ(receive_two(dual), "to ::of v6");
  EXPECT_EQ(receive(all_v4), "to 0.0.0.0");
  EXPECT_EQ(receive_two(bound), "to the addressanother port");
  EXPECT_EQ(receive(connected), "to the pair");
  for (UdpSocket* socket : {&dual, &all_v4, &bound, &connected}) EXPECT_EQ(receive(*socket), "EAGAIN");
  EXPECT_EQ(udp_.counters().received, 6u);
}

TEST_F(UdpTest, NobodyThereIsSaidToTheSenderButNotToMany) {
  UdpSocket v6_only(udp_, events_, IpVersion::v6);
  v6_only.v6_only = true;
  ASSERT_TRUE(v6_only.bind({IpAddress(), 7}).ok());
  arrive({there, 9}, {here, 7}, "x");
  EXPECT_EQ(internet_.refused, std::vector{there});
  arrive({there, 9}, {IpAddress::v4(255, 255, 255, 255), 8}, "x");
  EXPECT_EQ(internet_.refused.size(), 1u);
  EXPECT_EQ(udp_.counters().unknown_port, 1u);
}

TEST_F(UdpTest, WhatDoesNotFitIsCutAndWhatIsLookedAtStays) {
  UdpSocket socket(udp_, events_, IpVersion::v4);
  ASSERT_TRUE(socket.bind({here, 7}).ok());
  arrive({there, 9}, {here, 7}, "abcdef");
  arrive({there, 9}, {here, 7}, "");
  arrive({there, 9}, {here, 7}, "ghi");
  EXPECT_EQ(socket.next_bytes(), 6u);
  DatagramNews news;
  EXPECT_EQ(receive(socket, 2, Reading::looks, &news), "ab");
  EXPECT_EQ(news.bytes, 6u);
  EXPECT_EQ(receive(socket, 4), "abcd");
  EXPECT_TRUE((socket.events() & poll_event::readable) != 0) << "an empty one waits too";
  EXPECT_EQ(receive(socket, 4, Reading::takes, &news), "") << "the rest is gone, and the next is empty";
  EXPECT_EQ(news.from, (Endpoint{there, 9}));
  EXPECT_EQ(receive(socket, 0, Reading::takes, &news), "");
  EXPECT_EQ(news.bytes, 3u);
  EXPECT_EQ(receive(socket), "EAGAIN");
  EXPECT_EQ(events_.times, 3u);
}

TEST_F(UdpTest, BrokenOnesAreDropped) {
  UdpSocket socket(udp_, events_, IpVersion::v6);
  ASSERT_TRUE(socket.bind({IpAddress(), 7}).ok());
  const Endpoint from{there, 9}, to{here, 7};
  arrive(from, to, "wrong sum", 0x1234);
  arrive(from, to, "too long", 0, 1);
  arrive(from, to, "too short", 0, -10);
  arrive({there_v6, 9}, {here_v6, 7}, "no sum", 0);
  udp_.received({there, here, Protocol::udp}, make_received(machine_.blocks(), std::vector<std::byte>(7)));
  udp_.received({there, here, Protocol::udp}, make_received(machine_.blocks(), {}));
  EXPECT_EQ(udp_.counters().malformed, 6u);
  EXPECT_EQ(receive(socket), "EAGAIN");
  arrive(from, to, "no sum in v4", 0);
  arrive(from, to, "cut and more", 0, -5);
  arrive(from, to, "looked at before", 0x1234, 0, true);
  EXPECT_EQ(receive(socket), "no sum in v4");
  EXPECT_EQ(receive(socket), "cut and");
  EXPECT_EQ(receive(socket), "looked at before");
}

TEST_F(UdpTest, AFullBufferDropsAndCounts) {
  UdpSocket socket(udp_, events_, IpVersion::v4);
  ASSERT_TRUE(socket.bind({here, 7}).ok());
  socket.receive_bytes = 20'000;
  for (int i = 0; i < 1000; ++i) arrive({there, 9}, {here, 7}, std::string(100, 'x'));
  EXPECT_LT(machine_.heap.statistics().live_bytes, 40'000u);
  EXPECT_EQ(udp_.counters().received + udp_.counters().no_room, 1000u);
  EXPECT_GT(udp_.counters().received, 20u);
  std::uint64_t taken = 0;
  while (receive(socket) != "EAGAIN") ++taken;
  EXPECT_EQ(taken, udp_.counters().received);
  socket.receive_bytes = 1;
  arrive({there, 9}, {here, 7}, "one");
  arrive({there, 9}, {here, 7}, "two");
  EXPECT_EQ(receive_two(socket), "oneEAGAIN") << "one is always taken";
}

TEST_F(UdpTest, ARefusalIsToldOnceAndToTheConnectedOnly) {
  UdpSocket connected(udp_, events_, IpVersion::v4), other(udp_, events_, IpVersion::v4);
  ASSERT_TRUE(connected.connect({there, 9}).ok());
  ASSERT_TRUE(other.bind({here, 7}).ok());
  Refusal refusal{Refusal::Kind::unreachable_port, here, there, 0, connected.local().port, 9, 0};
  udp_.refused(refusal);
  EXPECT_TRUE((connected.events() & poll_event::error) != 0 && (events_.told & poll_event::error) != 0);
  EXPECT_EQ(send(connected, "x"), -ECONNREFUSED);
  EXPECT_EQ(send(connected, "x"), 1);
  udp_.refused(refusal);
  EXPECT_EQ(receive_two(connected), "ECONNREFUSEDEAGAIN");
  udp_.refused(refusal);
  EXPECT_EQ(connected.take_error(), Errno::econnrefused);
  EXPECT_EQ(connected.take_error(), Errno{});
  for (const Refusal::Kind passing : {Refusal::Kind::unreachable_host, Refusal::Kind::unreachable_network,
                                      Refusal::Kind::too_big, Refusal::Kind::expired}) {
    refusal.kind = passing;
    udp_.refused(refusal);
    EXPECT_EQ(connected.take_error(), Errno{});
  }
  refusal.kind = Refusal::Kind::prohibited;
  refusal.destination_port = 10;
  udp_.refused(refusal);
  EXPECT_EQ(connected.take_error(), Errno{}) << "about somebody else";
  refusal.destination_port = 9;
  udp_.refused(refusal);
  EXPECT_EQ(connected.take_error(), Errno::ehostunreach);
  refusal.source_port = 7;
  udp_.refused(refusal);
  EXPECT_EQ(other.take_error(), Errno{});
}

TEST_F(UdpTest, DestinationsAreChecked) {
  UdpSocket socket(udp_, events_, IpVersion::v4), dual(udp_, events_, IpVersion::v6);
  EXPECT_EQ(send(socket, "x"), -EDESTADDRREQ);
  EXPECT_EQ(send(socket, "x", Endpoint{there, 0}), -EINVAL);
  EXPECT_EQ(socket.connect({there, 0}).error(), Errno::einval);
  internet_.no_route = IpAddress::v4(10, 0, 0, 1);
  EXPECT_EQ(send(socket, "x", Endpoint{internet_.no_route, 1}), -ENETUNREACH);
  EXPECT_EQ(send(socket, std::string(65'508, 'x'), Endpoint{there, 1}), -EMSGSIZE);
  EXPECT_EQ(send(socket, std::string(65'507, 'x'), Endpoint{there, 1}), 65'507);
  EXPECT_EQ(send(dual, std::string(65'528, 'x'), Endpoint{there_v6, 1}), -EMSGSIZE);
  EXPECT_EQ(send(dual, "x", Endpoint{there, 1}), 1) << "IPv4 from a socket of both";
  dual.v6_only = true;
  EXPECT_EQ(send(dual, "x", Endpoint{there, 1}), -ENETUNREACH);
  const Endpoint all{IpAddress::v4(255, 255, 255, 255), 67};
  EXPECT_EQ(send(socket, "x", all), -EACCES);
  EXPECT_EQ(socket.connect(all).error(), Errno::eacces);
  socket.may_broadcast = true;
  EXPECT_EQ(send(socket, "x", all), 1);
  internet_.sent.clear();
  EXPECT_EQ(send(socket, "x", Endpoint{nowhere, 1}), 1);
  EXPECT_EQ(internet_.take().travel.to, IpAddress::v4(127, 0, 0, 1)) << "no address is this machine's";
  internet_.has_room = false;
  EXPECT_EQ(send(socket, "x", Endpoint{there, 1}), 1) << "lost on the way, as anywhere";
  EXPECT_EQ(udp_.counters().unsent, 1u);
}

// As DHCP does before the machine has an address.
TEST_F(UdpTest, AGivenRouteIsTakenAsItIs) {
  UdpSocket socket(udp_, events_, IpVersion::v4);
  ASSERT_TRUE(socket.bind({nowhere, 68}).ok());
  socket.may_broadcast = true;
  const IpAddress all = IpAddress::v4(255, 255, 255, 255);
  const Route route{&internet_.link, nowhere, all, 1500, 0, true};
  const std::string text = "discover";
  KernelTransfer transfer(std::as_bytes(std::span(text)));
  const Endpoint to{all, 67};
  ASSERT_TRUE(socket.send_to(transfer, &to, &route).ok());
  EXPECT_EQ(internet_.routes, 0u);
  EXPECT_EQ(internet_.take().travel.from, nowhere);
  arrive({there, 67}, {all, 68}, "offer");
  EXPECT_EQ(receive(socket), "offer");
}

TEST_F(UdpTest, ToManyReachesEverySocketOfThePort) {
  UdpSocket first(udp_, events_, IpVersion::v4), second(udp_, events_, IpVersion::v4),
      third(udp_, events_, IpVersion::v4);
  for (UdpSocket* socket : {&first, &second, &third}) socket->sharing.address = true;
  ASSERT_TRUE(first.bind({nowhere, 7}).ok() && second.bind({nowhere, 7}).ok() && third.bind({here, 7}).ok());
  arrive({there, 9}, {IpAddress::v4(255, 255, 255, 255), 7}, "all");
  EXPECT_EQ(receive(first) + receive(second) + receive(third), "allallEAGAIN");
}

TEST_F(UdpTest, AConnectionKeepsItsRouteUntilRoutesChangeAndMayBeDissolved) {
  UdpSocket socket(udp_, events_, IpVersion::v4);
  EXPECT_EQ(socket.disconnect().error(), Errno::enotconn);
  ASSERT_TRUE(socket.connect({there, 9}).ok());
  EXPECT_EQ(socket.local().address, here);
  const std::uint32_t before = internet_.routes;
  EXPECT_EQ(send(socket, "x") + send(socket, "x"), 2);
  EXPECT_EQ(internet_.routes, before);
  ++internet_.version;
  EXPECT_EQ(send(socket, "x") + send(socket, "x"), 2);
  EXPECT_EQ(internet_.routes, before + 1);
  ASSERT_TRUE(socket.connect({IpAddress::v4(127, 0, 0, 1), 9}).ok());
  EXPECT_EQ(socket.local().address, IpAddress::v4(127, 0, 0, 1)) << "each has the address that leads there";
  ASSERT_TRUE(socket.disconnect().ok());
  EXPECT_FALSE(socket.is_connected() || socket.is_bound()) << "the port was none of the program's";
  ASSERT_TRUE(socket.bind({nowhere, 7}).ok());
  ASSERT_TRUE(socket.connect({there, 9}).ok() && socket.disconnect().ok());
  EXPECT_EQ(socket.local(), (Endpoint{nowhere, 7}));
}

TEST_F(UdpTest, ShutDownEndsReadingAndWriting) {
  UdpSocket socket(udp_, events_, IpVersion::v4);
  EXPECT_EQ(socket.shut_down(true, true).error(), Errno::enotconn);
  ASSERT_TRUE(socket.connect({there, 9}).ok() && socket.shut_down(true, false).ok());
  EXPECT_EQ(receive(socket), "");
  EXPECT_EQ(send(socket, "x"), 1);
  ASSERT_TRUE(socket.shut_down(false, true).ok());
  EXPECT_EQ(send(socket, "x"), -EPIPE);
  EXPECT_TRUE((socket.events() & poll_event::hang_up) != 0);
}

TEST_F(UdpTest, EveryAllocationMayFail) {
  for (int left = 0; left < 12; ++left) {
    UdpSocket socket(udp_, events_, IpVersion::v4);
    ASSERT_TRUE(socket.connect({there, 9}).ok());
    const std::uint64_t live = machine_.heap.statistics().live_blocks;
    const std::vector<std::byte> bytes(20'000);
    machine_.heap.left = left;
    KernelTransfer transfer{std::span(bytes)};
    const Answer<std::size_t> sent = socket.send_to(transfer, nullptr);
    EXPECT_EQ(sent.ok(), left >= 6) << left;
    machine_.heap.left = INT_MAX;
    EXPECT_EQ(machine_.heap.statistics().live_blocks, live);
    const UdpHeader header{9, socket.local().port, 8, 0};
    Received packet = make_received(machine_.blocks(), std::as_bytes(std::span(&header, 1)));
    machine_.heap.left = left;
    udp_.received({there, here, Protocol::udp}, std::move(packet));
    machine_.heap.left = INT_MAX;
    EXPECT_EQ(receive(socket), left == 0 ? "EAGAIN" : "");
  }
}

TEST_F(UdpTest, RandomBytesDoNoHarm) {
  UdpSocket socket(udp_, events_, IpVersion::v6);
  ASSERT_TRUE(socket.bind({IpAddress(), 0x0707}).ok());
  for (int i = 0; i < 20'000; ++i) {
    std::vector<std::byte> bytes(machine_.random() % 40);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(machine_.random() % 3 == 0 ? 0 : 7);
    Received packet = make_received(machine_.blocks(), bytes);
    packet.transport_verified = machine_.random() % 2 == 0;
    udp_.received({there, here, Protocol::udp, 1, 0, machine_.random() % 4 == 0}, std::move(packet));
    udp_.refused({static_cast<Refusal::Kind>(machine_.random() % 6), here, there, 0,
                  static_cast<std::uint16_t>(machine_.random()), 0x0707, 0});
  }
  EXPECT_LT(machine_.heap.statistics().live_bytes, 2 * UdpSocket::default_receive_bytes);
}

TEST_F(UdpTest, WhereMemoryIsFullASocketHoldsOneDatagram) {
  UdpSocket socket(udp_, events_, IpVersion::v4);
  ASSERT_TRUE(socket.bind({here, 53}).ok());
  constexpr std::uint64_t most = 8192;
  machine_.memory.most = most;
  machine_.memory.hold(most);
  for (int i = 0; i < 3; ++i) arrive({there, 1000}, {here, 53}, "one");
  EXPECT_GT(machine_.memory.used(), most);
  EXPECT_EQ(receive(socket), "one");
  EXPECT_EQ(receive(socket), "EAGAIN");
  EXPECT_EQ(machine_.memory.used(), most);
  arrive({there, 1000}, {here, 53}, std::string(most / 8, 'x'));
  EXPECT_EQ(receive(socket), "EAGAIN") << "beyond the bound not even one";
  machine_.memory.let_go(most);
}

}  // namespace
}  // namespace ingot::os::network
