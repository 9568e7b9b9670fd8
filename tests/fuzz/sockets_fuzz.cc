// A program's calls, segments and datagrams near valid ones, errors, fragments, answers of routers and of DHCP servers,
// time that passes and memory that ends, in any order: what the stack sends is well formed and never takes back what it
// said, timers come to rest, and in the end nothing is left.
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <source_location>

#include "tests/fuzz/byte_source.h"
#include "tests/network/fragments.h"
#include "tests/network/ingot_stack.h"
#include "tests/network/script_settings.h"

using namespace ingot;
using namespace ingot::network_scripts;

namespace {

using Packet = network_scripts::Bytes;

constexpr std::uint16_t served_port = 8080;
constexpr std::size_t most_sockets = 8, most_flows = 8, most_sent = 16;
constexpr std::size_t most_memory = 24 << 20;

void require(bool holds, std::source_location where = std::source_location::current()) {
  if (holds) return;
  std::fprintf(stderr, "%s:%u: what must hold does not\n", where.file_name(), where.line());
  std::abort();
}

// What a peer knows of a connection by what it heard.
struct Known {
  Endpoint local, remote;
  std::uint32_t ours = 0, theirs = 0;  // where both streams are; `ours` is the stack's
  std::uint32_t stamp = 0;
  bool has_acknowledged = false;
};

class Play {
 public:
  explicit Play(ByteSource& source) : source_(source), place_(chosen_place()), stack_(place_) {}

  void run() {
    require(stack_.configure(linux_profile()).empty());
    while (!source_.empty()) {
      step();
      hear();
      const auto& statistics = stack_.machine().heap().statistics();
      require(statistics.live_bytes <= most_memory);
      require(!stack_.next_timer() || *stack_.next_timer() >= stack_.now());
    }
    finish();
  }

 private:
  std::uint32_t draw(std::uint32_t bound) {
    return (bound <= 256 ? source_.take<std::uint8_t>() : source_.take<std::uint32_t>()) % bound;
  }
  std::uint32_t near(std::uint32_t place) {
    switch (draw(8)) {
      case 0: return draw(UINT32_MAX);
      case 1: return place + draw(20) - 10;
      case 2: return place + draw(70'000) - 35'000;
      default: return place;
    }
  }
  Environment chosen_place() {
    ScriptSettings settings;
    settings.version = draw(2) == 0 ? Version::v4 : Version::v6;
    settings.mtu = draw(4) == 0 ? 1280 : 1500;
    Environment place = settings.environment();
    place.asks = draw(2) == 0;
    return place;
  }
  int family() const { return place_.local.is_v4() ? AF_INET : AF_INET6; }
  int some_socket() { return 3 + static_cast<int>(draw(opened_ + 1)); }

  void step();
  void call();
  void open_socket();
  void set_some_option();
  void pass_time() {
    stack_.advance(stack_.now() + (draw(4) == 0 ? draw(200'000) * INT64_C(1000) : draw(400) * INT64_C(1000)));
  }
  void bound_memory() { stack_.machine().heap().left = draw(2) == 0 ? INT_MAX : static_cast<int>(draw(40)); }

  void say_segment();
  void begin_flow(WirePacket& segment);
  void go_on(WirePacket& segment, const Known& flow);
  void say_datagram();
  void say_error();
  void say_router();
  void say_lease();
  void say_pieces(const Packet& packet);
  void deliver(const Packet& packet) { draw(16) == 0 ? say_pieces(packet) : stack_.receive(packet); }

  void hear();
  void hear_segment(const WirePacket& packet);
  bool is_at_rest() {
    return stack_.shared().drive([](os::network::Stack& stack) {
      const os::network::Tcp& tcp = stack.tcp();
      return tcp.connection_count() == 0 && tcp.handshake_count() == 0 && tcp.time_wait_count() == 0;
    });
  }
  void finish();

  ByteSource& source_;
  Environment place_;
  IngotStack stack_;
  std::uint32_t opened_ = 0;
  std::deque<Known> flows_;
  std::deque<Packet> sent_;
};

void Play::step() {
  switch (draw(12)) {
    case 0: return pass_time();
    case 1:
    case 2:
    case 3: return call();
    case 4: return say_datagram();
    case 5: return say_error();
    case 6: return say_router();
    case 7: return say_lease();
    case 8: return bound_memory();
    default: return say_segment();
  }
}

void Play::open_socket() {
  if (opened_ >= most_sockets) return;
  const bool is_stream = draw(4) != 0;
  const std::int64_t made = stack_.socket(family(), is_stream ? SOCK_STREAM : SOCK_DGRAM, 0);
  if (made < 0) return;
  opened_ = static_cast<std::uint32_t>(made) - 2;
  const auto descriptor = static_cast<int>(made);
  if (is_stream && draw(2) == 0) {
    (void)stack_.connect(descriptor, {place_.remote, 80});
    return;
  }
  (void)stack_.bind(descriptor, {place_.local, served_port});
  if (is_stream) (void)stack_.listen(descriptor, static_cast<int>(draw(4)));
}

void Play::set_some_option() {
  struct Option {
    int level, name;
  };
  constexpr std::array<Option, 16> options = {{{1, 2},
                                               {1, 7},
                                               {1, 8},
                                               {1, 9},
                                               {1, 13},
                                               {1, 15},
                                               {6, 1},
                                               {6, 2},
                                               {6, 3},
                                               {6, 4},
                                               {6, 6},
                                               {6, 12},
                                               {6, 18},
                                               {6, 25},
                                               {0, 1},
                                               {41, 26}}};
  const Option option = options[draw(options.size())];
  const std::array<std::uint32_t, 2> value = {draw(2) == 0 ? draw(4) : draw(100'000), draw(3)};
  const std::span bytes(reinterpret_cast<const std::uint8_t*>(value.data()), draw(9));
  (void)stack_.set_option(some_socket(), option.level, option.name, bytes);
  std::array<std::uint8_t, 128> told{};
  (void)stack_.get_option(some_socket(), option.level, draw(2) == 0 ? option.name : 11, told);
}

void Play::call() {
  const int descriptor = some_socket();
  Message message;
  switch (draw(9)) {
    case 0: return open_socket();
    case 1:
      if (const std::int64_t made = stack_.accept(descriptor); made >= 0)
        opened_ = static_cast<std::uint32_t>(made) - 2;
      return;
    case 2: (void)stack_.connect(descriptor, {draw(8) == 0 ? place_.local : place_.remote, served_port}); return;
    case 3: (void)stack_.shutdown(descriptor, static_cast<int>(draw(3))); return;
    case 4: (void)stack_.close(descriptor); return;
    case 5: return set_some_option();
    case 6:
      message.capacity = draw(20'000);
      message.flags = draw(4) == 0 ? MSG_PEEK : 0;
      (void)stack_.receive(descriptor, message);
      return;
    default: {
      message.bytes.resize(draw(draw(2) == 0 ? 200 : 60'000));
      message.flags = draw(4) == 0 ? MSG_MORE : 0;
      const Endpoint to{place_.remote, static_cast<std::uint16_t>(draw(3) * 4000)};
      (void)stack_.send(descriptor, message, draw(4) == 0 ? &to : nullptr);
      return;
    }
  }
}

void Play::begin_flow(WirePacket& segment) {
  segment.from = {place_.remote, static_cast<std::uint16_t>(40'000 + draw(4))};
  segment.to = {place_.local, served_port};
  segment.flags = draw(8) == 0 ? static_cast<std::uint16_t>(draw(256)) : std::uint16_t{TcpFlag::syn};
  segment.sequence = draw(2) == 0 ? draw(100'000) : draw(UINT32_MAX);
  segment.options = {{.kind = TcpOption::segment_size, .numbers = {draw(4) == 0 ? draw(65'536) : 1460}, .bytes = {}}};
  if (draw(2) == 0) segment.options.push_back({.kind = TcpOption::sack_permitted, .numbers = {}, .bytes = {}});
  if (draw(2) == 0) segment.options.push_back({.kind = TcpOption::window_scale, .numbers = {draw(16)}, .bytes = {}});
  if (draw(2) == 0) segment.options.push_back({.kind = TcpOption::timestamps, .numbers = {draw(1000), 0}, .bytes = {}});
}

void Play::go_on(WirePacket& segment, const Known& flow) {
  segment.from = flow.remote;
  segment.to = flow.local;
  const bool is_odd = draw(10) == 0;
  segment.flags = static_cast<std::uint16_t>(TcpFlag::acknowledge | (draw(20) == 0 ? TcpFlag::fin : 0));
  if (is_odd) segment.flags = static_cast<std::uint16_t>(draw(256));
  if (!flow.has_acknowledged) segment.flags |= TcpFlag::syn;  // the stack's SYN is to be answered
  segment.sequence = near(flow.theirs);
  segment.acknowledged = near(flow.ours);
  if (draw(3) == 0) {
    segment.options.push_back({.kind = TcpOption::timestamps, .numbers = {near(1000), near(flow.stamp)}, .bytes = {}});
  }
  if (draw(4) == 0) {
    TcpOption ranges{.kind = TcpOption::sack, .numbers = {}, .bytes = {}};
    for (std::uint32_t count = 1 + draw(2); count-- > 0;) {
      const std::uint32_t begin = near(flow.ours) - draw(20'000);
      ranges.numbers.insert(ranges.numbers.end(), {begin, begin + draw(3000)});
    }
    segment.options.push_back(ranges);
  }
}

void Play::say_segment() {
  WirePacket segment;
  if (flows_.empty() || draw(8) == 0) {
    begin_flow(segment);
  } else {
    go_on(segment, flows_[draw(static_cast<std::uint32_t>(flows_.size()))]);
  }
  segment.window = static_cast<std::uint16_t>(draw(3) == 0 ? draw(4) : draw(65'536));
  segment.payload.resize(draw(2) == 0 ? 0 : draw(1400));
  deliver(to_bytes(segment));
}

void Play::say_datagram() {
  WirePacket datagram;
  datagram.protocol = ScriptProtocol::udp;
  datagram.from = {place_.remote, static_cast<std::uint16_t>(draw(3) * 4000)};
  datagram.to = {place_.local, draw(4) == 0 ? std::uint16_t{7} : served_port};
  datagram.payload.resize(draw(draw(4) == 0 ? 9000 : 1200));
  const Packet bytes = to_bytes(datagram);
  bytes.size() > place_.mtu ? say_pieces(bytes) : deliver(bytes);
}

// Of something that was sent, or of what only looks so.
void Play::say_error() {
  if (sent_.empty()) return;
  WirePacket error;
  error.protocol = ScriptProtocol::icmp;
  error.from.address = draw(2) == 0 ? place_.remote : place_.gateway;
  error.to.address = place_.local;
  constexpr std::array<std::uint8_t, 6> types_v4 = {3, 3, 11, 12, 4, 8}, types_v6 = {1, 2, 2, 3, 4, 128};
  error.icmp_type = (place_.local.is_v4() ? types_v4 : types_v6)[draw(6)];
  error.icmp_code = static_cast<std::uint8_t>(draw(16));
  error.icmp_rest = draw(2) == 0 ? draw(1600) : draw(UINT32_MAX);
  error.payload = sent_[draw(static_cast<std::uint32_t>(sent_.size()))];
  error.payload.resize(std::min<std::size_t>(error.payload.size(), draw(4) == 0 ? draw(60) : 100));
  if (!error.payload.empty() && draw(3) == 0) {
    error.payload[draw(static_cast<std::uint32_t>(error.payload.size()))] ^= static_cast<std::uint8_t>(1 << draw(8));
  }
  stack_.receive(to_bytes(error));
}

// Advertisements, solicitations, redirects: a body of any bytes behind what makes it one.
void Play::say_router() {
  if (place_.local.is_v4()) return say_datagram();
  WirePacket message;
  message.protocol = ScriptProtocol::icmp;
  IpAddress::V6 router{0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2};
  message.from.address = draw(4) == 0 ? place_.gateway : IpAddress(router);
  message.to.address = place_.local;
  message.hop_limit = draw(8) == 0 ? 64 : 255;
  message.icmp_type = static_cast<std::uint8_t>(133 + draw(5));
  message.icmp_rest = draw(UINT32_MAX);
  message.payload.resize(8 + 16);
  if (draw(2) == 0) std::ranges::copy(place_.local.bytes(), message.payload.begin());
  for (std::uint32_t count = draw(4); count-- > 0;) {
    constexpr std::array<std::uint8_t, 6> kinds = {1, 2, 3, 5, 25, 31};
    const std::uint8_t words = static_cast<std::uint8_t>(draw(6));
    message.payload.insert(message.payload.end(), {kinds[draw(6)], words});
    for (int left = words * 8 - 2; left > 0; --left) message.payload.push_back(source_.take<std::uint8_t>());
  }
  stack_.receive(to_bytes(message));
}

// DHCP's answer to what was asked last (RFC 2131), with options of any bytes behind the usual ones.
void Play::say_lease() {
  const auto question = std::ranges::find_if(sent_, [](const Packet& bytes) {
    const Result<WirePacket> packet = from_bytes(bytes);
    return packet.ok() && packet.value().protocol == ScriptProtocol::udp && packet.value().to.port == 67;
  });
  if (question == sent_.end() || !place_.local.is_v4()) return;
  WirePacket answer;
  answer.protocol = ScriptProtocol::udp;
  answer.from = {place_.gateway, 67};
  answer.to = {draw(2) == 0 ? IpAddress::v4(255, 255, 255, 255) : place_.local, 68};
  answer.payload = from_bytes(*question).value().payload;
  answer.payload.resize(240);
  answer.payload[0] = 2;
  const std::array<std::uint8_t, 4> address = {192, 168, 0, static_cast<std::uint8_t>(draw(256))};
  std::ranges::copy(address, answer.payload.begin() + 16);
  constexpr std::array<std::uint8_t, 3> kinds = {2, 5, 6};
  const auto seconds = static_cast<std::uint8_t>(draw(256));
  const Packet usual = {53, 1, kinds[draw(3)], 54, 4, 192, 168, 0, 2, 51, 4, 0, 0, seconds, 10, 1, 4, 255, 255, 0, 0};
  answer.payload.insert(answer.payload.end(), usual.begin(), usual.end());
  for (std::uint32_t count = draw(40); count-- > 0;) answer.payload.push_back(source_.take<std::uint8_t>());
  answer.payload.push_back(255);
  stack_.receive(to_bytes(answer));
}

// In any order, some twice, some of them with borders that do not fit.
void Play::say_pieces(const Packet& packet) {
  const std::size_t body = packet.size() - (packet[0] >> 4 == 4 ? 20 : 40);
  FragmentPlace place;
  place.mark = static_cast<std::uint8_t>(draw(3));
  for (std::uint32_t count = 1 + draw(8); count-- > 0;) {
    place.begin = draw(static_cast<std::uint32_t>(body / 8 + 1)) * 8;
    place.length = std::min<std::size_t>(8 * (1 + draw(180)), body - place.begin);
    place.has_more = draw(8) == 0 ? draw(2) == 0 : place.begin + place.length < body;
    stack_.receive(fragment_of(packet, place));
  }
}

void Play::hear_segment(const WirePacket& packet) {
  const auto found = std::ranges::find_if(
      flows_, [&](const Known& known) { return known.local == packet.from && known.remote == packet.to; });
  const std::uint32_t length = static_cast<std::uint32_t>(packet.payload.size()) + (packet.has(TcpFlag::syn) ? 1 : 0) +
                               (packet.has(TcpFlag::fin) ? 1 : 0);
  if (found == flows_.end() || packet.has(TcpFlag::syn)) {
    if (found != flows_.end()) flows_.erase(found);
    if (flows_.size() >= most_flows) flows_.pop_front();
    const bool acknowledges = packet.has(TcpFlag::acknowledge);
    flows_.push_back({packet.from, packet.to, packet.sequence + length, packet.acknowledged, 0, acknowledges});
    return;
  }
  // A reset that answers a stranger's segment goes by that segment's numbers.
  if (packet.has(TcpFlag::reset)) return;
  require(packet.has(TcpFlag::acknowledge));
  require(!found->has_acknowledged || static_cast<std::int32_t>(packet.acknowledged - found->theirs) >= 0);
  found->ours = packet.sequence + length;
  found->theirs = packet.acknowledged;
  found->has_acknowledged = true;
  for (const TcpOption& option : packet.options) {
    if (option.kind == TcpOption::timestamps) found->stamp = option.numbers[0];
  }
}

void Play::hear() {
  while (std::optional<SentPacket> sent = stack_.take_sent()) {
    require(sent->bytes.size() <= place_.mtu);
    const bool is_piece =
        sent->bytes[0] >> 4 == 4 ? ((sent->bytes[6] & 0x3f) | sent->bytes[7]) != 0 : sent->bytes[6] == 44;
    if (!is_piece) {
      const Result<WirePacket> packet = from_bytes(sent->bytes);
      require(packet.ok());
      if (packet.value().protocol == ScriptProtocol::tcp) hear_segment(packet.value());
    }
    sent_.push_front(std::move(sent->bytes));
    if (sent_.size() > most_sent) sent_.pop_back();
  }
}

// Whatever a peer said or did not say, closed sockets end, and so does what was remembered of strangers.
void Play::finish() {
  constexpr Microseconds minute = 60'000'000, long_enough = 240 * minute;
  stack_.machine().heap().left = INT_MAX;
  for (std::uint32_t descriptor = 3; descriptor < 3 + opened_; ++descriptor)
    (void)stack_.close(static_cast<int>(descriptor));
  for (const Microseconds end = stack_.now() + long_enough; !is_at_rest();) {
    require(stack_.now() < end);
    stack_.advance(stack_.now() + minute);
    hear();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ByteSource source(data, size);
  Play(source).run();
  return 0;
}
