// Two connections over an Internet that does to packets what it likes: streams arrive whole all the same, and nothing
// is left of them.
#include <gtest/gtest.h>

#include "os/network/tcp/tcp_fixture.h"

namespace ingot::os::network {
namespace {

struct Weather {
  unsigned loss = 0, doubling = 0, reordering = 0, corruption = 0;  // of 1000
  unsigned delay = 5, jitter = 2;                                   // milliseconds
};

class TwoHosts {
 public:
  TwoHosts(unsigned seed, Weather weather) : random(seed), weather_(weather) {
    one.sent = [this](TestPacket&& packet) { carry(std::move(packet), two); };
    two.sent = [this](TestPacket&& packet) { carry(std::move(packet), one); };
    two.port = 80;
  }
  ~TwoHosts() {
    for (TestHost* host : {&one, &two}) {
      if (host->socket) host->socket->abort(Errno{}, machine.time);
      host->socket.reset();
      host->connection.reset();
    }
  }

  Answer<void> connect() {
    TRY(one.make(two, static_cast<std::uint32_t>(random())));
    one.connection->connect(machine.time);
    return {};
  }
  void carry(TestPacket&& packet, TestHost& to) {
    ++carried;
    if (random() % 1000 < weather_.loss) return;
    const unsigned copies = random() % 1000 < weather_.doubling ? 2 : 1;
    for (unsigned i = 0; i < copies; ++i) {
      const bool is_late = random() % 1000 < weather_.reordering;
      const std::int64_t delay =
          weather_.delay + (weather_.jitter != 0 && is_late ? random() % (4 * weather_.jitter) : 0);
      // In order, unless it is late on purpose.
      Nanoseconds time = machine.time + milliseconds(delay);
      if (!is_late) time = last_[&to] = std::max(last_[&to], time);
      under_way_.emplace(time.count(), std::pair(&to, spoil(packet)));
    }
  }
  // A bit of it, now and then: whoever computes the checksum must see that.
  TestPacket spoil(TestPacket packet) {
    if (weather_.corruption == 0 || random() % 1000 >= weather_.corruption) return packet;
    ++spoilt;
    packet[random() % packet.size()] ^= std::byte{1} << random() % 8;
    return packet;
  }
  void deliver(TestHost& to, const TestPacket& bytes) {
    Received packet = received_from(machine, bytes);
    const TestHost& from = &to == &one ? two : one;
    const Arrival arrival{.from = from.address, .to = to.address, .protocol = Protocol::tcp};
    const std::optional<Segment> segment = take_segment(arrival, packet);
    if (!segment) return;
    // Without a listener, who is called begins as well: both open at once.
    if (!to.connection && segment->has(TcpHeader::syn) && !segment->has(TcpHeader::ack) && !to.socket) {
      if (!to.make(from, static_cast<std::uint32_t>(random())).ok()) return;
      to.connection->connect(machine.time);
    }
    if (to.connection) {
      const Reference<TcpConnection> held = to.connection;
      held->segment_arrived(*segment, std::move(packet), machine.time);
    } else if (!segment->has(TcpHeader::rst)) {
      answer_for_the_gone(to, from, *segment);
    }
    to.flush();
  }
  // TIME-WAIT's answer, or a reset.
  void answer_for_the_gone(TestHost& host, const TestHost& peer, const Segment& segment) {
    Segment answer = reset_for(segment);
    if (host.has_remains && segment.length() == 0) return;
    if (host.has_remains) {
      answer.flags = TcpHeader::ack;
      answer.sequence = host.remains.send_next;
      answer.acknowledgment = host.remains.receive_next;
      answer.window = 1000;
    }
    const Travel travel{.from = host.address, .to = peer.address, .protocol = Protocol::tcp};
    send_segment(host, host.route_now(), travel, answer, OptionLayout::permission_first);
  }
  // The next thing that happens. False: nothing does.
  bool step() {
    const Nanoseconds packet = under_way_.empty() ? TestMachine::never : Nanoseconds(under_way_.begin()->first);
    if (packet == TestMachine::never && machine.wake == TestMachine::never) return false;
    if (packet <= machine.wake) {
      machine.time = std::max(machine.time, packet);
      auto [to, bytes] = std::move(under_way_.begin()->second);
      under_way_.erase(under_way_.begin());
      deliver(*to, bytes);
    } else {
      machine.time = std::max(machine.time, std::exchange(machine.wake, TestMachine::never));
      timers.run(machine.time);
      one.flush();
      two.flush();
    }
    return true;
  }

  TestMachine machine;
  NetworkTimers timers{machine};
  TestHost one{machine, timers, 1}, two{machine, timers, 2};
  std::mt19937 random;
  std::uint64_t carried = 0, spoilt = 0;

 private:
  Weather weather_;
  std::multimap<std::int64_t, std::pair<TestHost*, TestPacket>> under_way_;
  std::map<TestHost*, Nanoseconds> last_;
};

std::string text_of(unsigned seed, std::size_t bytes) {
  std::mt19937 random(seed);
  std::string text(bytes, '\0');
  for (char& letter : text) letter = static_cast<char>(random());
  return text;
}

// A program at one end: writes its text, shuts down, reads to the end.
class Talker {
 public:
  Talker(TestHost& host, std::string text, std::mt19937& random)
      : host_(host), text_(std::move(text)), random_(random) {}

  void act(Nanoseconds now) {
    if (!host_.socket) return;
    TcpConnection& socket = *host_.socket;
    const TcpState state = socket.state();
    if (state == TcpState::syn_sent || state == TcpState::syn_received) return;
    while (written_ < text_.size()) {
      const std::size_t count = std::min<std::size_t>(text_.size() - written_, 1 + random_() % 20000);
      KernelTransfer from(std::as_bytes(std::span(text_).subspan(written_, count)));
      const Answer<std::size_t> sent = socket.send(from, random_() % 8 == 0 && written_ + count < text_.size(), now);
      if (!sent.ok()) {
        if (sent.error() != Errno::eagain) error = sent.error();
        break;
      }
      written_ += sent.value();
    }
    if (written_ == text_.size() && !shut_ && state != TcpState::closed) {
      shut_ = true;
      EXPECT_TRUE(socket.shut_down(false, true, now).ok());
    }
    read(socket, now);
  }
  void read(TcpConnection& socket, Nanoseconds now) {
    while (!ended) {
      std::string room(1 + random_() % 30000, '\0');
      const bool looks = random_() % 16 == 0;
      KernelTransfer to(std::as_bytes(std::span(room)));
      const Answer<std::size_t> got = socket.receive(to, looks ? Reading::looks : Reading::takes, now);
      if (!got.ok()) {
        if (got.error() != Errno::eagain) error = got.error();
        return;
      }
      room.resize(got.value());
      if (got.value() == 0) ended = true;
      if (!looks) received += room;
      if (looks) looked_at.emplace_back(received.size(), std::move(room));
    }
  }
  // What was looked at is what was read later.
  void check_looks() const {
    for (const auto& [at, text] : looked_at) EXPECT_EQ(received.compare(at, text.size(), text), 0);
  }

  std::string received;
  bool ended = false;
  Errno error{};
  std::vector<std::pair<std::size_t, std::string>> looked_at;

 private:
  TestHost& host_;
  std::string text_;
  std::mt19937& random_;
  std::size_t written_ = 0;
  bool shut_ = false;
};

struct Outcome {
  Nanoseconds took;
  std::uint64_t packets = 0, spoilt = 0;
  TcpCounters one, two;
};

Outcome exchange(unsigned seed, Weather weather, std::size_t bytes_one, std::size_t bytes_two,
                 const std::function<void(TwoHosts&)>& prepare = {}) {
  TwoHosts hosts(seed, weather);
  if (prepare) prepare(hosts);
  const std::string text_one = text_of(seed, bytes_one), text_two = text_of(seed + 1, bytes_two);
  Talker one(hosts.one, text_one, hosts.random), two(hosts.two, text_two, hosts.random);
  const Nanoseconds begin = hosts.machine.time;
  EXPECT_TRUE(hosts.connect().ok());
  Nanoseconds end = begin;
  for (int steps = 0; steps < 2'000'000 && hosts.step(); ++steps) {
    one.act(hosts.machine.time);
    two.act(hosts.machine.time);
    if (!one.ended || !two.ended) end = hosts.machine.time;
    if (hosts.machine.time - begin > seconds(7000)) break;
  }
  EXPECT_EQ(one.error, Errno{}) << "seed " << seed;
  EXPECT_EQ(two.error, Errno{}) << "seed " << seed;
  EXPECT_TRUE(one.ended && two.ended) << "seed " << seed;
  EXPECT_TRUE(one.received == text_two) << "seed " << seed << ": " << one.received.size() << " of " << bytes_two;
  EXPECT_TRUE(two.received == text_one) << "seed " << seed << ": " << two.received.size() << " of " << bytes_one;
  one.check_looks();
  two.check_looks();
  EXPECT_FALSE(hosts.one.connection) << "seed " << seed << ": still open";
  EXPECT_FALSE(hosts.two.connection) << "seed " << seed << ": still open";
  return {end - begin, hosts.carried, hosts.spoilt, hosts.one.counters, hosts.two.counters};
}

TEST(TcpStreams, ArriveWholeInAnyWeather) {
  for (unsigned seed = 1; seed <= 2000; ++seed) {
    std::mt19937 random(seed);
    const Weather weather{.loss = static_cast<unsigned>(random() % 4 == 0 ? random() % 150 : random() % 20),
                          .doubling = static_cast<unsigned>(random() % 40),
                          .reordering = static_cast<unsigned>(random() % 100),
                          .delay = static_cast<unsigned>(random() % 60),
                          .jitter = static_cast<unsigned>(random() % 20)};
    const auto prepare = [&](TwoHosts& hosts) {
      for (TestHost* host : {&hosts.one, &hosts.two}) {
        host->its_settings.selective_acknowledgments = random() % 4 != 0;
        host->its_settings.timestamps = random() % 3 != 0;
        host->its_settings.window_scaling = random() % 4 != 0;
        host->options.congestion_control = random() % 2 == 0 ? CongestionControl::reno : CongestionControl::cubic;
        host->options.no_delay = random() % 2 == 0;
        host->options.receive_buffer = random() % 4 == 0 ? 3000 + random() % 5000 : 0;
        host->link.its_properties.computes_checksums = random() % 2 == 0;
        host->link.its_properties.cuts_v4 = random() % 2 == 0;
        host->link.its_properties.mtu = static_cast<std::uint16_t>(random() % 4 == 0 ? 576 + random() % 1000 : 1500);
      }
    };
    exchange(seed, weather, random() % 60000, random() % 60000, prepare);
    if (::testing::Test::HasFailure()) break;
  }
}

// Megabytes both ways while up to a fifth of all is lost, and much of the rest comes late, twice or spoilt.
TEST(TcpStreams, ArriveWholeInAStorm) {
  for (unsigned seed = 1; seed <= 12; ++seed) {
    const Weather weather{.loss = 20 + seed % 4 * 60,
                          .doubling = seed * 5,
                          .reordering = seed % 3 * 100,
                          .corruption = 1 + seed * 2,
                          .delay = seed % 5 * 8,
                          .jitter = 10};
    const auto prepare = [&](TwoHosts& hosts) {
      hosts.one.link.its_properties.computes_checksums = hosts.one.link.its_properties.cuts_v4 = seed % 2 == 0;
      hosts.two.its_settings.selective_acknowledgments = seed % 4 != 3;
    };
    const Outcome outcome = exchange(seed, weather, 2'000'000, 1'000'000 + seed * 1000, prepare);
    EXPECT_GT(outcome.spoilt, 0u);
    if (::testing::Test::HasFailure()) break;
  }
}

TEST(TcpStreams, NeedNoRetransmissionWhereNothingIsLost) {
  const Outcome outcome = exchange(5, {.delay = 10, .jitter = 0}, 3'000'000, 100'000);
  EXPECT_EQ(outcome.one.retransmitted + outcome.two.retransmitted, 0u);
  EXPECT_EQ(outcome.one.timeouts + outcome.two.timeouts, 0u);
}

// The window of the receiver must grow beyond its 64 KiB for this: 3 MB in a round trip of 100 ms.
TEST(TcpStreams, FillALongPath) {
  const Outcome outcome = exchange(6, {.delay = 50, .jitter = 0}, 20'000'000, 1);
  EXPECT_LT(outcome.took.count(), seconds(3).count()) << "slow start doubles each 100 ms";
}

TEST(TcpStreams, LoseLittleTimeToLosses) {
  const Outcome outcome = exchange(7, {.loss = 10, .delay = 10, .jitter = 0}, 8'000'000, 1);
  EXPECT_GT(outcome.one.fast_recoveries, 10u);
  EXPECT_LT(outcome.one.timeouts, 15u) << "of " << outcome.one.fast_recoveries << " recoveries";
}

TEST(TcpStreams, TakeALostAcknowledgmentForNoLongerPath) {
  const Outcome outcome = exchange(7, {.loss = 200, .delay = 10, .jitter = 0}, 1'000'000, 1);
  EXPECT_LT(outcome.took.count(), seconds(150).count()) << outcome.one.timeouts << " timeouts";
}

TEST(TcpStreams, AreCutByTheDeviceWhereItDoes) {
  const auto prepare = [](TwoHosts& hosts) {
    hosts.one.link.its_properties.computes_checksums = hosts.one.link.its_properties.cuts_v4 = true;
  };
  const Outcome cut = exchange(8, {.delay = 5, .jitter = 0}, 2'000'000, 1, prepare);
  EXPECT_LT(cut.one.sent, cut.packets / 4) << "several segments are handed over at once";
}

TEST(TcpStreams, EndWithoutMemoryAtAnyPoint) {
  for (int allocations = 0; allocations < 400; ++allocations) {
    TwoHosts hosts(9, {.loss = 20, .reordering = 50, .delay = 1, .jitter = 5});
    const std::string text = text_of(9, 40'000);
    Talker one(hosts.one, text, hosts.random), two(hosts.two, text, hosts.random);
    hosts.machine.heap.left = allocations;
    (void)hosts.connect();
    for (int steps = 0; steps < 3000 && hosts.step(); ++steps) {
      one.act(hosts.machine.time);
      two.act(hosts.machine.time);
    }
    hosts.machine.heap.left = INT_MAX;
    EXPECT_EQ(two.received, text.substr(0, two.received.size())) << allocations;
  }
}

}  // namespace
}  // namespace ingot::os::network
