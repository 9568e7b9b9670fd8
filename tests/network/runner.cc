#include "tests/network/runner.h"

#include <sys/socket.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "tests/network/assertions.h"
#include "tests/network/calls.h"
#include "tests/network/commands.h"
#include "tests/network/flow.h"
#include "tests/network/icmp.h"
#include "tests/network/script_settings.h"

namespace ingot::network_scripts {
namespace {

constexpr Microseconds patience = 2'000'000;         // beyond the time that a packet is expected at
constexpr Microseconds longest_wait = 600'000'000;   // for a packet that may come at any time
constexpr std::uint16_t first_remote_port = 32'768;  // of clients that the script plays

std::string seconds(Microseconds time) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.6f", static_cast<double>(time) / 1e6);
  return text;
}

class Runner {
 public:
  Runner(const Script& script, const ScriptSettings& settings, const ComparisonRules& rules, StackUnderTest& stack)
      : script_(script),
        settings_(settings),
        rules_(rules),
        stack_(stack),
        place_(settings.environment()),
        calls_(stack, {settings.version == Version::v4 ? AF_INET : AF_INET6,
                       {place_.local, settings.bind_port},
                       {place_.remote, settings.connect_port}}),
        start_(stack.now()) {}

  Result<void> run();
  int line() const { return line_; }
  const std::string& details() const { return details_; }

 private:
  Microseconds now() const { return stack_.now() - start_; }
  Result<void> run_event(const Event& event);
  Result<void> come_to(Microseconds time, bool until_returned = false);
  Result<bool> go_on();
  Result<void> finish_call();
  Result<void> run_call(const CallLine& line, Microseconds base);
  Result<void> check_time(Microseconds actual, std::string_view what) const;
  Result<void> send_in(const PacketLine& line);
  Result<WirePacket> await_packet(Microseconds until);
  Result<WirePacket> await_whole(const PacketLine& line);
  Result<void> expect_out(const PacketLine& line);
  // Of UDP where there is no socket for it.
  bool is_foreign(const PacketLine& line) const {
    return line.encapsulation || (line.protocol == ScriptProtocol::udp && !(flow_ && flow_->has_datagrams()));
  }

  const Script& script_;
  const ScriptSettings& settings_;
  const ComparisonRules& rules_;
  StackUnderTest& stack_;
  Environment place_;
  Calls calls_;
  Profile profile_ = linux_profile();
  Variables variables_;
  std::optional<Flow> flow_;
  std::optional<PendingCall> pending_;
  std::optional<Microseconds> pending_end_;
  Microseconds start_;
  // Of the event that is run: where it is expected, and the one before.
  EventTime time_;
  Microseconds before_ = 0;
  Microseconds sent_at_ = 0;
  std::uint16_t next_remote_port_ = first_remote_port;
  int line_ = 0;
  std::string details_;
};

Result<void> Runner::check_time(Microseconds actual, std::string_view what) const {
  if (time_.kind == EventTime::Kind::any) return {};
  const auto share = static_cast<Microseconds>(settings_.tolerance_share * static_cast<double>(time_.begin - before_));
  const Microseconds tolerance = std::max(settings_.tolerance, share);
  if (actual >= time_.begin - tolerance && actual <= time_.end + tolerance) return {};
  const std::string range =
      time_.end == time_.begin ? seconds(time_.begin) : seconds(time_.begin) + "~" + seconds(time_.end);
  return Error::of(ErrorCode::corrupt, what, " was expected at ", range, " s and happened at ", seconds(actual),
                   " s, tolerance ", seconds(tolerance), " s");
}

// Whether the call that is pending returned, now.
Result<bool> Runner::go_on() {
  if (!pending_ || !TRY(calls_.attempt(*pending_))) return !pending_;
  const std::optional<Microseconds> end = pending_end_;
  pending_.reset();
  if (end && std::abs(now() - *end) > settings_.tolerance) {
    return Error::of(ErrorCode::corrupt, "the call was expected to return at ", seconds(*end), " s and did at ",
                     seconds(now()), " s");
  }
  return true;
}

// Or until the call that is pending returned.
Result<void> Runner::come_to(Microseconds time, bool until_returned) {
  while (now() < time && !(until_returned && !pending_)) {
    Microseconds next = start_ + time;
    if (const auto timer = stack_.next_timer()) next = std::min(next, std::max(*timer, stack_.now() + 1));
    if (const auto end = pending_ ? calls_.deadline(*pending_) : std::nullopt; end && *end > stack_.now()) {
      next = std::min(next, *end);
    }
    stack_.advance(next);
    TRY(go_on());
  }
  return {};
}

Result<void> Runner::finish_call() {
  if (!pending_) return {};
  const Microseconds last = pending_end_.value_or(now()) + settings_.tolerance;
  TRY(come_to(last, true));
  if (!pending_) return {};
  return Error::of(ErrorCode::corrupt, pending_->line->name, " still blocks at ", seconds(now()), " s");
}

Result<void> Runner::run_call(const CallLine& line, Microseconds base) {
  TRY(finish_call());
  pending_ = PendingCall{.line = &line, .begin = stack_.now()};
  pending_end_ = std::nullopt;
  if (line.end) pending_end_ = *line.end + base;
  if (line.name == "socket" && TRY(number_argument(line, 1)) == SOCK_DGRAM) {
    flow_ = Flow::of_datagrams({place_.local, settings_.bind_port}, {place_.remote, settings_.connect_port});
  }
  const bool has_datagrams = flow_ && flow_->has_datagrams();
  if (line.name == "connect" && !has_datagrams) {
    flow_ = Flow::connecting({place_.local, 0}, {place_.remote, settings_.connect_port});
  }
  if (line.name == "listen") flow_ = Flow::listening();
  TRY(go_on());
  if (!line.end) TRY(finish_call());
  return {};
}

Result<void> Runner::send_in(const PacketLine& line) {
  if (is_foreign(line)) return Error::of(ErrorCode::unsupported, "packets of UDP around TCP");
  for (const TcpOption& option : line.options) {
    if (option.kind == TcpOption::md5) return Error::of(ErrorCode::unsupported, "signatures by MD5");
  }
  if (!flow_ || (flow_->is_listening() && line.protocol == ScriptProtocol::tcp)) {
    flow_ = Flow::answering({place_.local, settings_.bind_port}, {place_.remote, next_remote_port_++}, line.sequence);
  }
  WirePacket packet;
  if (line.protocol == ScriptProtocol::icmp) {
    packet = TRY(icmp_message(line, flow_->echoed(line)));
  } else {
    packet = TRY(flow_->to_live(line));
  }
  stack_.receive(to_bytes(packet));
  TRY(go_on());
  return {};
}

// The next packet of the script's connection; what else the stack sends is no concern of the script.
Result<WirePacket> Runner::await_packet(Microseconds until) {
  while (true) {
    while (const auto sent = stack_.take_sent()) {
      auto packet = from_bytes(sent->bytes);
      if (!packet.ok()) return Error::of(ErrorCode::corrupt, "a broken packet was sent: ", packet.error().text());
      if (!flow_->owns(packet.value())) continue;
      sent_at_ = sent->time - start_;
      return std::move(packet).value();
    }
    if (now() >= until) {
      return Error::of(ErrorCode::corrupt, "no packet was sent until ", seconds(now()), " s");
    }
    const auto timer = stack_.next_timer();
    TRY(come_to(timer ? std::clamp(*timer - start_, now() + 1, until) : until));
  }
}

// A line may stand for several segments, which a device would have cut: of the same size but for the last.
Result<WirePacket> Runner::await_whole(const PacketLine& line) {
  const Microseconds until = time_.kind == EventTime::Kind::any ? now() + longest_wait : time_.end + patience;
  WirePacket whole = flow_->to_script(TRY(await_packet(until)), line);
  const std::size_t size = whole.payload.size();
  while (!settings_.strict_segments && size > 0 && whole.payload.size() < line.payload) {
    const WirePacket live = TRY(await_packet(until));
    WirePacket next = flow_->to_script(live, line);
    const std::uint32_t end = whole.sequence + static_cast<std::uint32_t>(whole.payload.size());
    const bool is_last = whole.payload.size() + next.payload.size() >= line.payload;
    if (next.sequence != end || next.acknowledged != whole.acknowledged || next.payload.empty() ||
        (!is_last && next.payload.size() != size)) {
      details_ = "joined: " + as_script(whole) + "\nthen:   " + as_script(next) + "\n";
      return Error::of(ErrorCode::corrupt, "segments that do not go on as one packet would");
    }
    // Linux pushes whatever it leaves to a device to cut; of segments that come one by one that says nothing.
    if ((line.flags & TcpFlag::push) != 0) next.flags |= TcpFlag::push;
    next.sequence = whole.sequence;
    next.payload.insert(next.payload.begin(), whole.payload.begin(), whole.payload.end());
    whole = std::move(next);
  }
  return whole;
}

Result<void> Runner::expect_out(const PacketLine& line) {
  if (is_foreign(line) || line.protocol == ScriptProtocol::icmp) {
    return Error::of(ErrorCode::unsupported, "packets of UDP around TCP, or of ICMP, that are sent");
  }
  for (const TcpOption& option : line.options) {
    if (option.kind == TcpOption::md5) return Error::of(ErrorCode::unsupported, "signatures by MD5");
  }
  if (!flow_) return Error::of(ErrorCode::unsupported, "a packet sent before any connection");
  const WirePacket packet = TRY(await_whole(line));
  flow_->learn_timestamp(packet, line);
  const std::string found = difference(packet, line, rules_);
  WirePacket written;
  written.protocol = line.protocol;
  written.flags = line.flags;
  written.sequence = line.sequence;
  written.acknowledged = line.acknowledged;
  written.window = line.window.value_or(packet.window);
  written.payload.resize(line.payload);
  written.options = line.any_options ? packet.options : line.options;
  details_ = "script packet: " + seconds(time_.begin) + " " + as_script(written) +
             "\nactual packet: " + seconds(sent_at_) + " " + as_script(packet) + "\n";
  if (!found.empty()) return Error::of(ErrorCode::corrupt, "the packet differs: ", found);
  TRY(check_time(sent_at_, "the packet"));
  details_.clear();
  return {};
}

Result<void> Runner::run_event(const Event& event) {
  const bool is_relative =
      event.time.kind != EventTime::Kind::absolute && event.time.kind != EventTime::Kind::absolute_range;
  const Microseconds base = is_relative ? now() : 0;
  before_ = time_.begin;
  time_ = event.time;
  time_.begin += base;
  time_.end = std::max(time_.begin, time_.end + base);
  const auto* packet = std::get_if<PacketLine>(&event.action);
  if (packet != nullptr && packet->is_outgoing) return expect_out(*packet);

  TRY(come_to(time_.begin));
  TRY(check_time(now(), "the event"));
  if (packet != nullptr) return send_in(*packet);
  if (const auto* call = std::get_if<CallLine>(&event.action)) return run_call(*call, base);
  if (const auto* command = std::get_if<CommandLine>(&event.action)) {
    return run_command(command->text, profile_, stack_);
  }
  return run_assertions(std::get<CodeLine>(event.action).text, variables_,
                        [this](std::string_view name) { return calls_.information(name); });
}

Result<void> Runner::run() {
  const std::string missing = stack_.configure(profile_);
  if (!missing.empty()) return Error::of(ErrorCode::unsupported, "the stack has no setting ", missing);
  for (const Event& event : script_.events) {
    line_ = event.at.line;
    TRY(run_event(event));
  }
  return finish_call();
}

Verdict verdict_of(const Error& error, int line, const std::string& details) {
  const bool is_judged = error.code() != ErrorCode::unsupported;
  return {.kind = is_judged ? Verdict::Kind::failed : Verdict::Kind::not_judged,
          .line = line,
          .reason = std::string(error.text()),
          .details = details};
}

}  // namespace

Verdict run_script(const Script& script, const StackFactory& create, const ComparisonRules& rules) {
  const Result<ScriptSettings> settings = read_settings(script);
  if (!settings.ok()) return verdict_of(settings.error(), 1, "");
  const std::unique_ptr<StackUnderTest> stack = create(settings.value().environment());
  Runner runner(script, settings.value(), rules, *stack);
  const Result<void> result = runner.run();
  if (result.ok()) return {};
  return verdict_of(result.error(), runner.line(), runner.details());
}

}  // namespace ingot::network_scripts
