#include "os/network/port_table.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "os/network/fake_internet.h"

namespace ingot::os::network {
namespace {

constexpr IpAddress loopback_v4 = IpAddress::v4(127, 0, 0, 1), other_v4 = IpAddress::v4(127, 0, 0, 2);
constexpr IpAddress any_v4 = IpAddress::v4(0, 0, 0, 0), any_v6, loopback_v6 = or_loopback(IpAddress());

class PortTableTest : public ::testing::Test {
 protected:
  PortTableTest() { internet_.ours = {loopback_v4, other_v4, loopback_v6}; }

  FakeMachine machine_;
  FakeInternet internet_;
  PortTable ports_{machine_, internet_};
};

// What a socket asks for; `listens`: it does before the next one comes.
struct Wish {
  IpVersion version = IpVersion::v4;
  IpAddress address;
  bool v6_only = false;
  PortSharing sharing = {};
  bool listens = false;
};

std::string name_of(const Wish& wish) {
  char text[INET6_ADDRSTRLEN] = {};
  ::inet_ntop(AF_INET6, wish.address.bytes().data(), text, sizeof text);
  return std::string(text) + (wish.version == IpVersion::v4 ? " of AF_INET" : "") + (wish.v6_only ? " v6only" : "") +
         (wish.sharing.address ? " reuseaddr" : "") + (wish.sharing.port ? " reuseport" : "") +
         (wish.listens ? " listens" : "");
}

std::vector<Wish> all_wishes(bool with_listeners) {
  std::vector<Wish> wishes;
  const Wish kinds[] = {{IpVersion::v4, any_v4},     {IpVersion::v4, loopback_v4},  {IpVersion::v4, other_v4},
                        {IpVersion::v6, any_v6},     {IpVersion::v6, any_v6, true}, {IpVersion::v6, loopback_v6},
                        {IpVersion::v6, loopback_v4}};
  for (Wish wish : kinds) {
    for (int bits = 0; bits < (with_listeners ? 8 : 4); ++bits) {
      wish.sharing = {(bits & 1) != 0, (bits & 2) != 0};
      wish.listens = (bits & 4) != 0;
      wishes.push_back(wish);
    }
  }
  return wishes;
}

// This machine's own sockets.
class LinuxSocket {
 public:
  LinuxSocket(const Wish& wish, int type) : wish_(wish) {
    descriptor_ = ::socket(wish.version == IpVersion::v4 ? AF_INET : AF_INET6, type | SOCK_CLOEXEC, 0);
    set(SOL_SOCKET, SO_REUSEADDR, wish.sharing.address);
    set(SOL_SOCKET, SO_REUSEPORT, wish.sharing.port);
    if (wish.version == IpVersion::v6) set(IPPROTO_IPV6, IPV6_V6ONLY, wish.v6_only);
  }
  LinuxSocket(const LinuxSocket&) = delete;
  ~LinuxSocket() { ::close(descriptor_); }

  int bind(std::uint16_t port) {
    sockaddr_in v4{};
    sockaddr_in6 v6{};
    v4.sin_family = AF_INET, v4.sin_port = htons(port);
    v6.sin6_family = AF_INET6, v6.sin6_port = htons(port);
    std::memcpy(&v6.sin6_addr, wish_.address.bytes().data(), 16);
    if (wish_.version == IpVersion::v6) return answer(::bind(descriptor_, reinterpret_cast<sockaddr*>(&v6), sizeof v6));
    std::memcpy(&v4.sin_addr, wish_.address.as_v4().data(), 4);
    return answer(::bind(descriptor_, reinterpret_cast<sockaddr*>(&v4), sizeof v4));
  }
  int listen() { return answer(::listen(descriptor_, 1)); }
  std::uint16_t port() const {
    sockaddr_in6 name{};
    socklen_t bytes = sizeof name;
    EXPECT_EQ(::getsockname(descriptor_, reinterpret_cast<sockaddr*>(&name), &bytes), 0);
    return ntohs(name.sin6_port);  // IPv4's lies at the same place
  }

 private:
  static int answer(int result) { return result == 0 ? 0 : errno; }
  void set(int level, int option, int value) { ::setsockopt(descriptor_, level, option, &value, sizeof value); }

  Wish wish_;
  int descriptor_;
};

int number_of(const Answer<void>& answer) { return answer.ok() ? 0 : static_cast<int>(answer.error()); }

class AgainstLinux : public PortTableTest, public ::testing::WithParamInterface<int> {
 protected:
  // What the second's bind and, of TCP, its listen answer behind the first.
  static std::pair<int, int> ask_linux(const Wish& first, const Wish& second, int type) {
    LinuxSocket earlier(first, type), later(second, type);
    EXPECT_EQ(earlier.bind(0), 0) << name_of(first);
    EXPECT_EQ(first.listens ? earlier.listen() : 0, 0) << name_of(first);
    const int bound = later.bind(earlier.port());
    return {bound, bound == 0 && type == SOCK_STREAM ? later.listen() : 0};
  }
  std::pair<int, int> ask_table(const Wish& first, const Wish& second, int type) {
    Binding earlier(first.version), later(second.version);
    earlier.sharing = first.sharing, earlier.v6_only = first.v6_only;
    later.sharing = second.sharing, later.v6_only = second.v6_only;
    EXPECT_TRUE(ports_.bind(earlier, {first.address, 0}).ok());
    EXPECT_TRUE(!first.listens || ports_.listen(earlier).ok());
    const int bound = number_of(ports_.bind(later, {second.address, earlier.local().port}));
    const int listening = bound == 0 && type == SOCK_STREAM ? number_of(ports_.listen(later)) : 0;
    ports_.release(earlier);
    ports_.release(later);
    return {bound, listening};
  }
};

// Every pair of addresses and options that the rules tell apart. Loopback only, one port at a time.
TEST_P(AgainstLinux, EveryPairOfBindingsIsAnsweredAlike) {
  const int type = GetParam();
  const int probe = ::socket(AF_INET6, type | SOCK_CLOEXEC, 0);
  const bool has_v6 = probe >= 0 && LinuxSocket({IpVersion::v6, loopback_v6}, type).bind(0) == 0;
  ::close(probe);
  std::map<int, int> answers;
  for (const Wish& first : all_wishes(type == SOCK_STREAM)) {
    for (const Wish& second : all_wishes(false)) {
      if (!has_v6 && (first.version == IpVersion::v6 || second.version == IpVersion::v6)) continue;
      const std::pair<int, int> ours = ask_table(first, second, type);
      std::pair<int, int> truth = ask_linux(first, second, type);
      // Another program of this machine may have the port at another address: it does not have the next one as well.
      for (int again = 0; again < 3 && truth != ours; ++again) truth = ask_linux(first, second, type);
      EXPECT_EQ(ours, truth) << name_of(first) << " then " << name_of(second);
      ++answers[truth.first];
    }
  }
  for (const auto& [number, count] : answers) {
    std::printf("%s: %d pairs answered %s\n", type == SOCK_STREAM ? "TCP" : "UDP", count,
                number == 0 ? "0" : ::strerror(number));
  }
  EXPECT_GT(answers[0], 0);
  EXPECT_GT(answers[EADDRINUSE], 0);
}
INSTANTIATE_TEST_SUITE_P(Protocols, AgainstLinux, ::testing::Values(SOCK_STREAM, SOCK_DGRAM));

TEST_F(PortTableTest, OnlyOurAddressesAreBoundAndOnlyOnce) {
  Binding binding(IpVersion::v4);
  EXPECT_EQ(number_of(ports_.bind(binding, {IpAddress::v4(8, 8, 8, 8), 53})), EADDRNOTAVAIL);
  EXPECT_FALSE(binding.is_bound());
  ASSERT_TRUE(ports_.bind(binding, {loopback_v4, 53}).ok());
  EXPECT_EQ(number_of(ports_.bind(binding, {loopback_v4, 54})), EINVAL);
  ports_.release(binding);
  EXPECT_TRUE(ports_.bind(binding, {loopback_v4, 54}).ok()) << "a released one may be bound again";
  ports_.release(binding);
}

TEST_F(PortTableTest, ConnectionsBlockAListenerUnlessBothShareTheAddress) {
  const Endpoint local{loopback_v4, 80};
  for (const bool flow_shares : {false, true}) {
    for (const bool listener_shares : {false, true}) {
      const PortSharing sharing{flow_shares, false};
      ASSERT_TRUE(ports_.add_flow(local, sharing).ok());
      ASSERT_TRUE(ports_.add_flow(local, sharing).ok());
      Binding listener(IpVersion::v6);
      listener.sharing.address = listener_shares;
      const int expected = flow_shares && listener_shares ? 0 : EADDRINUSE;
      EXPECT_EQ(number_of(ports_.bind(listener, {any_v6, 80})), expected);
      ports_.release(listener);
      Binding elsewhere(IpVersion::v4);
      EXPECT_TRUE(ports_.bind(elsewhere, {other_v4, 80}).ok());
      ports_.release(elsewhere);
      ports_.drop_flow(local, sharing);
      EXPECT_EQ(number_of(ports_.bind(listener, {any_v6, 80})), expected) << "one connection is left";
      ports_.release(listener);
      ports_.drop_flow(local, sharing);
      EXPECT_TRUE(ports_.bind(listener, {any_v6, 80}).ok()) << "none is";
      ports_.release(listener);
    }
  }
}

TEST_F(PortTableTest, EphemeralPortsAreSpreadAndComeLate) {
  const Endpoint remote{IpAddress::v4(192, 0, 2, 1), 80};
  std::set<std::uint16_t> seen;
  int ascending = 0;
  std::uint16_t before = 0;
  for (int i = 0; i < 5000; ++i) {
    // Each to another remote end: who sees one of them does not know the next.
    const Endpoint other{IpAddress::v4(192, 0, 2, static_cast<std::uint8_t>(i)), static_cast<std::uint16_t>(i)};
    const std::uint16_t port = ports_.choose(loopback_v4, other, [](std::uint16_t) { return true; }).value();
    EXPECT_TRUE(port >= PortTable::first_ephemeral && port <= PortTable::last_ephemeral);
    ascending += port == before + 1;
    before = port;
  }
  EXPECT_LT(ascending, 50);
  for (int i = 0; i < 5000; ++i) {
    const std::uint16_t port = ports_.choose(loopback_v4, remote, [](std::uint16_t) { return true; }).value();
    EXPECT_TRUE(seen.insert(port).second) << "for one remote end a port does not come again before the others";
  }
}

TEST_F(PortTableTest, EveryEphemeralPortIsFoundAndBoundOnesAreLeftOut) {
  Binding bound(IpVersion::v4);
  ASSERT_TRUE(ports_.bind(bound, {any_v4, 40'000}).ok());
  const Endpoint remote{IpAddress::v4(192, 0, 2, 1), 80};
  std::set<std::uint16_t> used;
  const auto usable = [&](std::uint16_t port) { return !used.contains(port); };
  while (true) {
    const Answer<std::uint16_t> port = ports_.choose(loopback_v4, remote, usable);
    if (!port.ok()) {
      EXPECT_EQ(port.error(), Errno::eaddrnotavail);
      break;
    }
    used.insert(port.value());
  }
  EXPECT_EQ(used.size(), 60'999u - 32'768u);
  EXPECT_FALSE(used.contains(40'000));
  const Endpoint other{IpAddress::v4(192, 0, 2, 1), 81};
  EXPECT_TRUE(ports_.choose(loopback_v4, other, [](std::uint16_t) { return true; }).ok()) << "another remote end";
  ports_.release(bound);
}

TEST_F(PortTableTest, BindingToPortZeroEndsWhenAllAreTaken) {
  std::deque<Binding> bindings;
  while (true) {
    Binding& binding = bindings.emplace_back(IpVersion::v4);
    const Answer<void> bound = ports_.bind(binding, {any_v4, 0});
    if (bound.ok()) continue;
    EXPECT_EQ(bound.error(), Errno::eaddrinuse);
    break;
  }
  EXPECT_EQ(bindings.size(), 60'999u - 32'768u + 2u);
  for (Binding& binding : bindings) ports_.release(binding);
}

TEST_F(PortTableTest, ThoseThatShareAPortHaveEqualPartsOfIt) {
  std::deque<Binding> bindings;
  for (int i = 0; i < 5; ++i) {
    Binding& binding = bindings.emplace_back(IpVersion::v4);
    binding.sharing.port = true;
    ASSERT_TRUE(ports_.bind(binding, {any_v4, 80}).ok());
  }
  std::map<Binding*, int> chosen;
  for (int i = 0; i < 10'000; ++i) {
    ++chosen[ports_.find(80, static_cast<std::uint32_t>(machine_.random()), [](const Binding&) { return 1; })];
  }
  EXPECT_EQ(chosen.size(), 5u);
  for (const auto& [binding, count] : chosen) EXPECT_TRUE(count > 1700 && count < 2300) << count;
  Binding* const always = ports_.find(80, 12345, [](const Binding&) { return 1; });
  EXPECT_EQ(ports_.find(80, 12345, [](const Binding&) { return 1; }), always) << "a flow stays with one";
  for (Binding& binding : bindings) ports_.release(binding);
}

TEST_F(PortTableTest, WithoutMemoryAConnectionHasNoPort) {
  machine_.heap.left = 0;
  EXPECT_EQ(number_of(ports_.add_flow({loopback_v4, 80}, {})), ENOMEM);
  Binding binding(IpVersion::v4);
  EXPECT_TRUE(ports_.bind(binding, {loopback_v4, 80}).ok()) << "binding needs none";
  ports_.release(binding);
}

}  // namespace
}  // namespace ingot::os::network
