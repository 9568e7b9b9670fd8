#include "tests/network/replaying_stack.h"

#include <netinet/in.h>
#include <poll.h>

#include <cerrno>
#include <charconv>
#include <cstring>

#include "tests/network/calls.h"
#include "tests/network/symbols.h"

namespace ingot::network_scripts {
namespace {

constexpr std::uint32_t some_first_sequence = 4'294'000'000;  // its connections wrap
constexpr std::uint16_t some_port = 40'001;
constexpr std::uint32_t timestamp_shift = 77'000;

// Calls that the runner answers by itself.
bool is_runners(const CallLine& line) {
  return line.name == "fcntl" || line.name == "open" || line.name.starts_with("epoll_c");
}

Microseconds time_of(const EventTime& time, Microseconds base) {
  const bool is_absolute = time.kind == EventTime::Kind::absolute || time.kind == EventTime::Kind::absolute_range;
  return std::max(base, is_absolute ? time.begin : base + time.begin);
}

}  // namespace

ReplayingStack::ReplayingStack(const Script& script, const Environment& place, const ReplayChanges& changes)
    : script_(script), changes_(changes), local_{place.local, 8080}, remote_{place.remote, 0} {
  plan();
}

std::string ReplayingStack::configure(const Profile&) { return ""; }

std::optional<Microseconds> ReplayingStack::next_timer() const {
  std::optional<Microseconds> next;
  if (!planned_.empty()) next = planned_.front().time;
  if (blocked_ != nullptr && blocked_until_ > now_) next = std::min(next.value_or(INT64_MAX), blocked_until_);
  return next;
}

void ReplayingStack::advance(Microseconds time) {
  now_ = time;
  while (!planned_.empty() && planned_.front().time <= now_) {
    sent_.push_back(std::move(planned_.front()));
    planned_.pop_front();
  }
}

// All that the script has next, up to what comes from outside.
void ReplayingStack::plan() {
  Microseconds base = now_;
  for (; next_ < script_.events.size(); ++next_) {
    const Event& event = script_.events[next_];
    if (const auto* packet = std::get_if<PacketLine>(&event.action)) {
      if (!packet->is_outgoing) break;
      base = time_of(event.time, base);
      plan_packet(*packet, base);
      continue;
    }
    if (const auto* call = std::get_if<CallLine>(&event.action); call != nullptr && !is_runners(*call)) break;
    base = time_of(event.time, base);
    const auto* command = std::get_if<CommandLine>(&event.action);
    if (command == nullptr || !command->text.starts_with("sockstat")) continue;
    int count = 0;
    std::string_view text = command->text;
    text.remove_prefix(text.rfind(' ') + 1);  // all of it where there is no blank
    (void)std::from_chars(text.data(), text.data() + text.size(), count);
    counts_.push_back(count);
  }
  advance(now_);
}

void ReplayingStack::plan_packet(const PacketLine& line, Microseconds time) {
  const WirePacket whole = to_live(line);
  std::size_t begin = 0;
  do {
    WirePacket piece = whole;
    const std::size_t size = std::min<std::size_t>(changes_.segment, whole.payload.size() - begin);
    piece.sequence += static_cast<std::uint32_t>(begin);
    piece.payload.resize(size);
    if (begin + size < whole.payload.size()) piece.flags &= static_cast<std::uint16_t>(~TcpFlag::push);
    begin += size;
    SentPacket sent{.time = time, .bytes = to_bytes(piece)};
    if (changes_.packet) changes_.packet(packets_, sent);
    planned_.push_back(std::move(sent));
    ++packets_;
  } while (begin < whole.payload.size());
}

WirePacket ReplayingStack::to_live(const PacketLine& line) {
  WirePacket live;
  const bool is_syn = (line.flags & TcpFlag::syn) != 0;
  if (is_syn && !is_known_) {
    live_first_ = some_first_sequence;
    script_first_ = line.sequence;
    is_known_ = true;
  }
  live.from = local_;
  live.to = remote_;
  live.service = line.service.any_capable ? 2 : line.service.value;
  live.hop_limit = line.hop_limit.value_or(64);
  live.flags = line.flags;
  live.sequence = line.sequence + (line.absolute_sequence ? 0 : live_first_ - (is_syn ? script_first_ : 0));
  live.acknowledged = (line.flags & TcpFlag::acknowledge) != 0 ? line.acknowledged + (is_syn ? 0 : remote_first_) : 0;
  live.window = line.window.value_or(512);
  live.urgent = line.urgent;
  live.payload.resize(line.payload);
  live.options = line.options;
  for (TcpOption& option : live.options) {
    if (option.kind == TcpOption::timestamps) option.numbers[0] += timestamp_shift;
    if (option.kind != TcpOption::sack) continue;
    for (std::uint32_t& edge : option.numbers) edge += is_syn ? 0 : remote_first_;
  }
  return live;
}

void ReplayingStack::receive(std::span<const std::uint8_t> bytes) {
  const Result<WirePacket> packet = from_bytes(bytes);
  if (!packet.ok() || next_ >= script_.events.size()) return;
  received_.push_back({});
  received_.back() = packet.value();
  const auto* line = std::get_if<PacketLine>(&script_.events[next_].action);
  if (line == nullptr) return;
  if (line->protocol == ScriptProtocol::tcp) {
    if (!is_active_) remote_ = packet.value().from;
    const bool opens = is_active_ ? (line->flags & TcpFlag::syn) != 0 && (line->flags & TcpFlag::acknowledge) != 0
                                  : received_.size() == 1;
    if (opens) remote_first_ = line->sequence;
  }
  ++next_;
  plan();
}

std::optional<SentPacket> ReplayingStack::take_sent() {
  if (sent_.empty()) return std::nullopt;
  SentPacket packet = std::move(sent_.front());
  sent_.pop_front();
  return packet;
}

std::int64_t ReplayingStack::result_of(const CallLine& line) {
  const auto written = value_of(line.result);
  std::int64_t result = written.ok() ? written.value() : 0;
  if (result < 0) result = -symbol(line.error).value_or(EINVAL);
  if (changes_.call) changes_.call(calls_, result);
  ++calls_;
  return result;
}

std::int64_t ReplayingStack::answer(std::int64_t while_blocked) {
  if (blocked_ != nullptr) {
    if (now_ < blocked_until_) return while_blocked != 0 ? while_blocked : -EAGAIN;
    const CallLine& line = *blocked_;
    blocked_ = nullptr;
    return result_of(line);
  }
  const auto* line = next_ < script_.events.size() ? std::get_if<CallLine>(&script_.events[next_].action) : nullptr;
  if (line == nullptr) return -ENOSYS;
  const Event& event = script_.events[next_++];
  if (line->end && *line->end > event.time.begin) {
    blocked_ = line;
    blocked_until_ = now_ + *line->end - event.time.begin;
    plan();
    return while_blocked != 0 ? while_blocked : -EAGAIN;
  }
  const std::int64_t result = result_of(*line);
  plan();
  return result;
}

std::int64_t ReplayingStack::connect(int, const Endpoint& address) {
  is_active_ = true;
  remote_ = address;
  local_.port = some_port;
  is_known_ = false;
  remote_first_ = 0;
  return answer(-EINPROGRESS);
}

std::int64_t ReplayingStack::written_value(std::size_t argument) const {
  const auto* line = next_ < script_.events.size() ? std::get_if<CallLine>(&script_.events[next_].action) : nullptr;
  if (line == nullptr) return 0;
  const auto written = number_argument(*line, argument);
  return written.ok() ? written.value() : 0;
}

std::int64_t ReplayingStack::receive(int, Message& message) {
  const auto* line = next_ < script_.events.size() ? std::get_if<CallLine>(&script_.events[next_].action) : nullptr;
  if (line != nullptr && line->name == "recvmsg" && line->arguments.size() > 1) {
    const Expression* flags = member_of(line->arguments[1], "msg_flags");
    message.flags = flags == nullptr ? 0 : static_cast<int>(value_of(*flags).ok() ? value_of(*flags).value() : 0);
  }
  return answer(0);
}

std::int64_t ReplayingStack::get_option(int, int level, int name, std::span<std::uint8_t> value) {
  // The runner asks how a connect that blocked went.
  if (blocked_ != nullptr && level == SOL_SOCKET && name == SO_ERROR && !value.empty()) {
    const std::int64_t result = answer(0);
    value[0] = static_cast<std::uint8_t>(-std::min<std::int64_t>(result, 0));
    return static_cast<std::int64_t>(value.size());
  }
  if (level == IPPROTO_TCP && name == *symbol("TCP_INFO")) return -ENOPROTOOPT;
  const std::int64_t number = written_value(3);
  std::memcpy(value.data(), &number, std::min(value.size(), sizeof(number)));
  return answer(0);
}

std::int64_t ReplayingStack::control(int, std::uint64_t, int& number) {
  number = static_cast<int>(written_value(2));
  return answer(0);
}

std::uint32_t ReplayingStack::ready(int) { return blocked_ != nullptr && now_ >= blocked_until_ ? POLLOUT : 0; }

std::optional<int> ReplayingStack::count_in_state(std::string_view, bool) {
  if (counts_.empty()) return std::nullopt;
  const int count = counts_.front();
  counts_.pop_front();
  return count;
}

}  // namespace ingot::network_scripts
