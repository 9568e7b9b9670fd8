// poll and epoll, over what the stack says holds now and how often it told of something new.
#include <poll.h>
#include <sys/epoll.h>

#include <cerrno>

#include "tests/network/calls.h"
#include "tests/network/symbols.h"

namespace ingot::network_scripts {
namespace {

constexpr std::uint32_t always_told = POLLERR | POLLHUP;

Error other_events(std::string_view name, std::int64_t expected, std::int64_t actual) {
  return Error::of(ErrorCode::corrupt, name, " reported the events ", actual, ", expected ", expected);
}

std::size_t timeout_argument(const CallLine& line) { return line.name == "poll" ? 2 : 3; }

Result<std::int64_t> number_member(const Expression& structure, std::string_view name, std::int64_t otherwise) {
  const Expression* member = member_of(structure, name);
  if (member == nullptr) return otherwise;
  return value_of(*member);
}

}  // namespace

std::optional<Microseconds> Calls::deadline(const PendingCall& call) const {
  if (call.line->name != "poll" && call.line->name != "epoll_wait") return std::nullopt;
  const auto milliseconds = number_argument(*call.line, timeout_argument(*call.line));
  if (!milliseconds.ok() || milliseconds.value() < 0) return std::nullopt;
  return call.begin + milliseconds.value() * 1000;
}

// poll([{fd=4, events=POLLOUT, revents=POLLOUT}], 1, 1000)
Calls::Outcome Calls::poll(PendingCall& call) {
  const Expression* list = TRY(argument_of(*call.line, 0));
  std::int64_t count = 0;
  for (const Expression& entry : list->items) {
    const std::int64_t number = TRY(number_member(entry, "fd", -1));
    const auto events = static_cast<std::uint32_t>(TRY(number_member(entry, "events", 0)));
    const auto file = files_.find(number);
    const std::uint32_t ready = file == files_.end() ? POLLNVAL : stack_.ready(file->second.live);
    if ((ready & (events | always_told | POLLNVAL)) != 0) ++count;
  }
  if (count == 0 && stack_.now() < deadline(call).value_or(INT64_MAX)) return std::optional<std::int64_t>();
  for (const Expression& entry : list->items) {
    const auto file = files_.find(TRY(number_member(entry, "fd", -1)));
    const auto events = static_cast<std::uint32_t>(TRY(number_member(entry, "events", 0)));
    const std::uint32_t ready =
        file == files_.end() ? POLLNVAL : stack_.ready(file->second.live) & (events | always_told);
    const std::int64_t expected = TRY(number_member(entry, "revents", 0));
    if (ready != static_cast<std::uint32_t>(expected)) return other_events("poll", expected, ready);
  }
  return std::optional(count);
}

Calls::Outcome Calls::create_watch(PendingCall& call) {
  const std::int64_t number = TRY(value_of(call.line->result));
  watches_[number];
  return std::optional(number);
}

// epoll_ctl(5, EPOLL_CTL_ADD, 4, {events=EPOLLOUT|EPOLLET, fd=4})
Calls::Outcome Calls::change_watch(PendingCall& call) {
  const std::int64_t number = TRY(number_argument(*call.line, 0)), operation = TRY(number_argument(*call.line, 1));
  const std::int64_t watched = TRY(number_argument(*call.line, 2));
  const auto watch = watches_.find(number);
  const auto file = files_.find(watched);
  if (watch == watches_.end() || file == files_.end()) return std::optional<std::int64_t>(-EBADF);
  const int live = file->second.live;
  const bool is_watched = watch->second.contains(live);
  if (operation == EPOLL_CTL_ADD && is_watched) return std::optional<std::int64_t>(-EEXIST);
  if (operation != EPOLL_CTL_ADD && !is_watched) return std::optional<std::int64_t>(-ENOENT);
  if (operation == EPOLL_CTL_DEL) return watch->second.erase(live), std::optional<std::int64_t>(0);
  const Expression* event = TRY(argument_of(*call.line, 3));
  const auto events = static_cast<std::uint32_t>(TRY(number_member(*event, "events", 0)));
  watch->second[live] = {.descriptor = live, .events = events, .told = stack_.times_told(live)};
  return std::optional<std::int64_t>(0);
}

// The events to tell of, once for each time that there was something new where the edge counts.
std::uint32_t Calls::report(Watched& watched) {
  const std::uint32_t ready = stack_.ready(watched.descriptor) & (watched.events | always_told);
  const std::uint64_t told = stack_.times_told(watched.descriptor);
  const bool is_edge = (watched.events & EPOLLET) != 0;
  if (ready == 0 || !watched.is_armed || (is_edge && !watched.is_new && told == watched.told)) return 0;
  watched.told = told;
  watched.is_new = false;
  watched.is_armed = (watched.events & EPOLLONESHOT) == 0;
  return ready;
}

// epoll_wait(5, {events=EPOLLIN, fd=4}, 1, 0): of several that are ready, the script names the first.
Calls::Outcome Calls::wait_for_watched(PendingCall& call) {
  const auto watch = watches_.find(TRY(number_argument(*call.line, 0)));
  if (watch == watches_.end()) return std::optional<std::int64_t>(-EBADF);
  std::int64_t count = 0;
  std::uint32_t first = 0;
  for (auto& [descriptor, watched] : watch->second) {
    const std::uint32_t events = report(watched);
    if (events != 0 && count++ == 0) first = events;
  }
  if (count == 0 && stack_.now() < deadline(call).value_or(INT64_MAX)) return std::optional<std::int64_t>();
  const Expression* event = TRY(argument_of(*call.line, 1));
  const std::int64_t expected = TRY(number_member(*event, "events", 0));
  if (first != static_cast<std::uint32_t>(expected)) return other_events("epoll_wait", expected, first);
  return std::optional(count);
}

}  // namespace ingot::network_scripts
