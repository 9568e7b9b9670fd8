#include "tests/network/calls.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "tests/network/symbols.h"

namespace ingot::network_scripts {
namespace {

constexpr std::int64_t most_bytes = std::int64_t{1} << 24;

bool gives_descriptor(std::string_view name) {
  return name == "socket" || name == "accept" || name == "accept4" || name.starts_with("epoll_create");
}

// Flags stand behind buffer and size, and nowhere for read and write.
Result<std::int64_t> message_flags(const CallLine& line) {
  const bool has_flags = line.name == "send" || line.name == "sendto" || line.name == "recv" || line.name == "recvfrom";
  if (has_flags) return number_argument(line, 3);
  if (line.name == "sendmsg" || line.name == "recvmsg") return number_argument(line, 2);
  return 0;
}

bool is_null(const CallLine& line) {
  return line.arguments.size() > 1 && line.arguments[1].kind == Expression::Kind::word &&
         line.arguments[1].text == "NULL";
}

}  // namespace

Calls::Handler Calls::handler_of(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, Handler>, 27> handlers = {{
      {"socket", &Calls::socket},
      {"bind", &Calls::bind},
      {"listen", &Calls::listen},
      {"accept", &Calls::accept},
      {"accept4", &Calls::accept},
      {"connect", &Calls::connect},
      {"read", &Calls::receive},
      {"recv", &Calls::receive},
      {"recvfrom", &Calls::receive},
      {"recvmsg", &Calls::receive_message},
      {"write", &Calls::send},
      {"writev", &Calls::send},
      {"send", &Calls::send},
      {"sendto", &Calls::send},
      {"sendmsg", &Calls::send},
      {"open", &Calls::open},
      {"sendfile", &Calls::send_file},
      {"shutdown", &Calls::shutdown},
      {"close", &Calls::close},
      {"getsockopt", &Calls::get_option},
      {"setsockopt", &Calls::set_option},
      {"fcntl", &Calls::file_control},
      {"ioctl", &Calls::device_control},
      {"poll", &Calls::poll},
      {"epoll_create", &Calls::create_watch},
      {"epoll_ctl", &Calls::change_watch},
      {"epoll_wait", &Calls::wait_for_watched},
  }};
  for (const auto& [known, handler] : handlers) {
    if (known == name) return handler;
  }
  return nullptr;
}

Result<int> Calls::live_descriptor(const CallLine& line) const {
  const std::int64_t number = TRY(number_argument(line, 0));
  const auto found = files_.find(number);
  return found == files_.end() ? -1 : found->second.live;
}

bool Calls::blocks(const CallLine& line, std::int64_t flags) const {
  const auto descriptor = number_argument(line, 0);
  const auto found = descriptor.ok() ? files_.find(descriptor.value()) : files_.end();
  const bool is_open = found != files_.end() && (found->second.flags & O_NONBLOCK) == 0;
  return is_open && (flags & (MSG_DONTWAIT | MSG_ERRQUEUE)) == 0;
}

Calls::Outcome Calls::unless_blocking(const CallLine& line, std::int64_t flags, std::int64_t result) const {
  if (result == -EAGAIN && blocks(line, flags)) return std::optional<std::int64_t>();
  return std::optional(result);
}

// { sa_family = AF_INET, sin_port = htons(80), sin_addr = inet_addr("192.0.2.1") }: of one that is written out, the
// port.
Result<Endpoint> Calls::endpoint(const CallLine& line, std::size_t argument, const Endpoint& otherwise) const {
  const Expression* written = TRY(argument_of(line, argument));
  Endpoint found = otherwise;
  if (written->kind == Expression::Kind::ellipsis) return found;
  const Expression* port = member_of(*written, "sin_port");
  if (port == nullptr || port->kind != Expression::Kind::application || port->items.size() != 1) {
    return Error::of(ErrorCode::unsupported, "the address of ", line.name);
  }
  found.port = static_cast<std::uint16_t>(TRY(value_of(port->items[0])));
  return found;
}

Calls::Outcome Calls::socket(PendingCall& call) {
  const Expression* family = TRY(argument_of(*call.line, 0));
  const std::int64_t chosen = family->kind == Expression::Kind::ellipsis ? place_.family : TRY(value_of(*family));
  const std::int64_t type = TRY(number_argument(*call.line, 1)), protocol = TRY(number_argument(*call.line, 2));
  return std::optional(stack_.socket(static_cast<int>(chosen), static_cast<int>(type), static_cast<int>(protocol)));
}

Calls::Outcome Calls::bind(PendingCall& call) {
  const int descriptor = TRY(live_descriptor(*call.line));
  const Endpoint address = TRY(endpoint(*call.line, 1, place_.local));
  return std::optional(stack_.bind(descriptor, address));
}

Calls::Outcome Calls::listen(PendingCall& call) {
  const int descriptor = TRY(live_descriptor(*call.line));
  const std::int64_t backlog = TRY(number_argument(*call.line, 1));
  return std::optional(stack_.listen(descriptor, static_cast<int>(backlog)));
}

Calls::Outcome Calls::accept(PendingCall& call) {
  const std::int64_t result = stack_.accept(TRY(live_descriptor(*call.line)));
  if (result >= 0) information_descriptor_ = static_cast<int>(result);
  return unless_blocking(*call.line, 0, result);
}

Calls::Outcome Calls::connect(PendingCall& call) {
  const int descriptor = TRY(live_descriptor(*call.line));
  if (!call.is_begun) {
    information_descriptor_ = descriptor;
    const Endpoint remote = TRY(endpoint(*call.line, 1, place_.remote));
    const std::int64_t result = stack_.connect(descriptor, remote);
    if (result != -EINPROGRESS || !blocks(*call.line, 0)) return std::optional(result);
  }
  if ((stack_.ready(descriptor) & (POLLOUT | POLLERR | POLLHUP)) == 0) return std::optional<std::int64_t>();
  std::array<std::uint8_t, sizeof(int)> error{};
  const std::int64_t result = stack_.get_option(descriptor, SOL_SOCKET, SO_ERROR, error);
  return std::optional(result < 0 ? result : -std::int64_t{error[0]});
}

Calls::Outcome Calls::receive(PendingCall& call) {
  Message message;
  message.is_nowhere = is_null(*call.line);
  const std::int64_t capacity = TRY(number_argument(*call.line, 2));
  const std::int64_t flags = TRY(message_flags(*call.line));
  message.capacity = static_cast<std::size_t>(std::clamp<std::int64_t>(capacity, 0, most_bytes));
  message.flags = static_cast<int>(flags);
  const int descriptor = TRY(live_descriptor(*call.line));
  return unless_blocking(*call.line, flags, stack_.receive(descriptor, message));
}

Calls::Outcome Calls::receive_message(PendingCall& call) {
  Message message;
  const Expression* expected = TRY(argument_of(*call.line, 1));
  const std::int64_t flags = TRY(message_flags(*call.line));
  message.capacity = static_cast<std::size_t>(TRY(vector_bytes(*expected)));
  message.flags = static_cast<int>(flags);
  const int descriptor = TRY(live_descriptor(*call.line));
  const std::int64_t result = stack_.receive(descriptor, message);
  if (result >= 0) TRY(check_message(*expected, message));
  return unless_blocking(*call.line, flags, result);
}

Result<std::int64_t> Calls::bytes_to_send(const CallLine& line) const {
  if (line.name == "write" || line.name == "send" || line.name == "sendto") return number_argument(line, 2);
  const Expression* written = TRY(argument_of(line, 1));
  return vector_bytes(*written);
}

// A call that blocks goes on until all is taken.
Calls::Outcome Calls::send_bytes(PendingCall& call, std::int64_t bytes, const Message& how) {
  const int descriptor = TRY(live_descriptor(*call.line));
  const bool may_wait = blocks(*call.line, how.flags);
  // As on Linux, the address of who is connected by a stream is not looked at.
  const auto file = files_.find(TRY(number_argument(*call.line, 0)));
  const bool has_address = call.line->name == "sendto" && file != files_.end() && file->second.is_datagram;
  const Endpoint* const to = has_address ? &place_.remote : nullptr;
  do {
    Message message = how;
    message.bytes.resize(static_cast<std::size_t>(bytes - call.done));
    const std::int64_t result = stack_.send(descriptor, message, to);
    if (result == -EAGAIN && may_wait) return std::optional<std::int64_t>();
    if (result < 0) return std::optional(call.done > 0 ? call.done : result);
    call.done += result;
    if (result == 0) break;
  } while (may_wait && call.done < bytes);
  return std::optional(call.done);
}

Calls::Outcome Calls::send(PendingCall& call) {
  const std::int64_t bytes = std::clamp<std::int64_t>(TRY(bytes_to_send(*call.line)), 0, most_bytes);
  Message message;
  message.is_nowhere = is_null(*call.line);
  message.flags = static_cast<int>(TRY(message_flags(*call.line)));
  return send_bytes(call, bytes, message);
}

// The files of scripts hold zeros, as all that is sent does: what the kernel reads from one is written.
Calls::Outcome Calls::open(PendingCall& call) {
  const std::int64_t number = TRY(value_of(call.line->result));
  if (number >= 0) files_[number].holds_zeros = true;
  return std::optional(number);
}

// sendfile(4, 5, [0], 5)
Calls::Outcome Calls::send_file(PendingCall& call) {
  const auto file = files_.find(TRY(number_argument(*call.line, 1)));
  const std::int64_t bytes = std::clamp<std::int64_t>(TRY(number_argument(*call.line, 3)), 0, most_bytes);
  if (file == files_.end() || !file->second.holds_zeros) return std::optional<std::int64_t>(-EBADF);
  return send_bytes(call, bytes, {});
}

Calls::Outcome Calls::shutdown(PendingCall& call) {
  const int descriptor = TRY(live_descriptor(*call.line));
  const std::int64_t how = TRY(number_argument(*call.line, 1));
  return std::optional(stack_.shutdown(descriptor, static_cast<int>(how)));
}

Calls::Outcome Calls::close(PendingCall& call) {
  const int descriptor = TRY(live_descriptor(*call.line));
  const std::int64_t number = TRY(number_argument(*call.line, 0));
  if (watches_.erase(number) != 0) return std::optional<std::int64_t>(0);
  const auto file = files_.find(number);
  const bool holds_zeros = file != files_.end() && file->second.holds_zeros;
  files_.erase(number);
  if (holds_zeros) return std::optional<std::int64_t>(0);
  for (auto& [epoll, watch] : watches_) watch.erase(descriptor);
  return std::optional(stack_.close(descriptor));
}

Result<void> Calls::check_result(const CallLine& line, std::int64_t result) {
  if (line.result.kind == Expression::Kind::ellipsis) return {};
  const std::int64_t expected = TRY(value_of(line.result));
  const std::int64_t error = line.error.empty() ? 0 : symbol(line.error).value_or(0);
  if (result >= 0 && expected >= 0 && gives_descriptor(line.name)) {
    const bool is_datagram = line.name == "socket" && TRY(number_argument(line, 1)) == SOCK_DGRAM;
    if (!line.name.starts_with("epoll")) {
      files_[expected] = {.live = static_cast<int>(result), .is_datagram = is_datagram};
    }
    return {};
  }
  if (result < 0 ? expected == -1 && error == -result : expected == result) return {};
  const std::string actual = result < 0 ? "-1 " + name_of_error(-result) : std::to_string(result);
  return Error::of(ErrorCode::corrupt, line.name, " returned ", actual, ", expected ", expected, " ", line.error);
}

Result<bool> Calls::attempt(PendingCall& call) {
  const Handler handler = handler_of(call.line->name);
  if (handler == nullptr) return Error::of(ErrorCode::unsupported, "the call ", call.line->name);
  const std::optional<std::int64_t> result = TRY((this->*handler)(call));
  call.is_begun = true;
  if (!result) return false;
  TRY(check_result(*call.line, *result));
  return true;
}

}  // namespace ingot::network_scripts
