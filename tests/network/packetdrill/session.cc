#include "tests/network/packetdrill/session.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <sstream>

#include "tests/network/commands.h"
#include "tests/network/script_settings.h"

namespace ingot::network_scripts {
namespace {

constexpr Microseconds longest_wait = 600'000'000;
constexpr Microseconds look = 20;  // how far the clock goes on while somebody does nothing but look at it
constexpr int free_looks = 2;

// How IPv6 finds a neighbour is not what a script is about.
bool is_of_neighbours(const SentPacket& sent) {
  const Result<WirePacket> packet = from_bytes(sent.bytes);
  return packet.ok() && packet.value().protocol == ScriptProtocol::icmp && packet.value().icmp_type >= 133 &&
         packet.value().icmp_type <= 137 && !packet.value().from.address.is_v4();
}

}  // namespace

void give_up(std::string_view why) {
  std::fprintf(stderr, "the stack: %.*s\n", static_cast<int>(why.size()), why.data());
  std::fflush(nullptr);
  std::_Exit(EXIT_FAILURE);
}

std::unique_ptr<Session> Session::create(const char* flags) {
  std::istringstream words(flags != nullptr ? flags : "");
  std::string version, mtu, commands;
  words >> version >> mtu >> commands;
  Script script;
  script.options = {{"ip_version", version}, {"mtu", mtu}};
  const Result<ScriptSettings> settings = read_settings(script);
  if (!settings.ok()) give_up(settings.error().text());
  return std::make_unique<Session>(settings.value().environment(), commands);
}

Session::Session(const Environment& place, const std::string& commands) : stack_(place), commands_(commands) {
  (void)stack_.configure(profile_);
}

Session::Entry::Entry(Session& session) : session_(session), lock_(session.mutex_) {
  session_.stack_.change_thread();
  session_.looks_ = 0;
  session_.run_commands();
}

Session::Entry::~Entry() { session_.let_others_try(lock_); }

void Session::run_commands() {
  commands_.clear();
  for (std::string name; std::getline(commands_, name);) {
    std::ifstream file(name);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const Result<void> run = run_command(text, profile_, stack_);
    if (!run.ok()) give_up(run.error().text());
  }
}

void Session::let_others_try(std::unique_lock<std::mutex>& lock) {
  if (!is_main_thread() || waiting_ == 0) return;
  const std::uint64_t now = ++happenings_;
  happened_.notify_all();
  tried_.wait(lock, [&] { return waiting_ == 0 || tried_until_ == now; });
  constexpr std::chrono::seconds patience(1);
  tried_.wait_for(lock, patience, [&] { return !has_returned_; });
}

void Session::advance_to_timer(std::unique_lock<std::mutex>& lock) {
  stack_.advance(std::max(stack_.next_timer().value_or(0), stack_.now() + 1));
  let_others_try(lock);
}

std::int64_t Session::insist(int descriptor, int flags, const std::function<std::int64_t(IngotStack&)>& use) {
  Entry entry(*this);
  const bool may_wait = waits(descriptor) && (flags & (MSG_DONTWAIT | MSG_ERRQUEUE)) == 0;
  std::int64_t result = use(stack_);
  // A script that does not say that the call takes time: it must end by itself.
  const Microseconds end = stack_.now() + longest_wait;
  while (result == -EAGAIN && may_wait && is_main_thread() && stack_.next_timer() && stack_.now() < end) {
    advance_to_timer(entry.lock());
    result = use(stack_);
  }
  if (result != -EAGAIN || !may_wait || is_main_thread()) return result;
  ++waiting_;
  std::uint64_t seen = happenings_;
  while (result == -EAGAIN) {
    happened_.wait(entry.lock(), [&] { return happenings_ != seen; });
    seen = happenings_;
    result = use(stack_);
    if (result != -EAGAIN) break;
    tried_until_ = seen;
    tried_.notify_all();
  }
  --waiting_;
  has_returned_ = true;
  tried_.notify_all();
  return result;
}

void Session::set_waiting(int descriptor, bool waits) {
  if (waits) {
    impatient_.erase(descriptor);
  } else {
    impatient_.insert(descriptor);
  }
}

void Session::pass(Microseconds span) {
  Entry entry(*this);
  const Microseconds end = stack_.now() + span;
  while (stack_.next_timer().value_or(end) < end) advance_to_timer(entry.lock());
  stack_.advance(end);
}

Microseconds Session::look_at_clock() {
  std::unique_lock lock(mutex_);
  if (!is_main_thread() && std::exchange(has_returned_, false)) {
    tried_.notify_all();
  } else if (++looks_ > free_looks) {
    stack_.change_thread();
    stack_.advance(stack_.now() + look);
    let_others_try(lock);
  }
  return stack_.now();
}

std::optional<SentPacket> Session::await_packet() {
  Entry entry(*this);
  const Microseconds end = stack_.now() + longest_wait;
  while (true) {
    while (std::optional<SentPacket> sent = stack_.take_sent()) {
      if (!is_of_neighbours(*sent)) return sent;
    }
    if (!stack_.next_timer() || *stack_.next_timer() > end) return std::nullopt;
    advance_to_timer(entry.lock());
  }
}

}  // namespace ingot::network_scripts
