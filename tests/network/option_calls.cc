// Options of sockets, flags of files, ioctl, tcp_info.
#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "tests/network/calls.h"
#include "tests/network/symbols.h"

namespace ingot::network_scripts {
namespace {

using NumberBytes = std::array<std::uint8_t, 8>;

NumberBytes bytes_of(std::int64_t number) {
  NumberBytes bytes{};
  std::memcpy(bytes.data(), &number, sizeof(number));
  return bytes;
}

std::int64_t number_from(std::span<const std::uint8_t> bytes) {
  std::int64_t number = 0;
  std::memcpy(&number, bytes.data(), std::min(bytes.size(), sizeof(number)));
  return number;
}

Result<linger> linger_of(const Expression& structure) {
  const Expression *is_on = member_of(structure, "onoff"), *seconds = member_of(structure, "linger");
  if (is_on == nullptr || seconds == nullptr) return Error::of(ErrorCode::unsupported, "a structure as an option");
  linger value{};
  value.l_onoff = static_cast<int>(TRY(value_of(*is_on)));
  value.l_linger = static_cast<int>(TRY(value_of(*seconds)));
  return value;
}

}  // namespace

// setsockopt(3, SOL_SOCKET, SO_REUSEADDR, [1], 4)
Calls::Outcome Calls::set_option(PendingCall& call) {
  const int descriptor = TRY(live_descriptor(*call.line));
  const int level = static_cast<int>(TRY(number_argument(*call.line, 1)));
  const int name = static_cast<int>(TRY(number_argument(*call.line, 2)));
  const Expression* value = TRY(argument_of(*call.line, 3));
  const std::int64_t size = TRY(number_argument(*call.line, 4));
  if (value->kind == Expression::Kind::structure) {
    const linger written = TRY(linger_of(*value));
    std::array<std::uint8_t, sizeof(linger)> bytes{};
    std::memcpy(bytes.data(), &written, sizeof(written));
    return std::optional(stack_.set_option(descriptor, level, name, bytes));
  }
  if (value->kind == Expression::Kind::text) {
    const Bytes bytes(value->text.begin(), value->text.end());
    return std::optional(stack_.set_option(descriptor, level, name, bytes));
  }
  const NumberBytes bytes = bytes_of(TRY(value_of(*value)));
  const auto used = static_cast<std::size_t>(std::clamp<std::int64_t>(size, 0, 8));
  return std::optional(stack_.set_option(descriptor, level, name, std::span(bytes).first(used)));
}

// getsockopt(3, SOL_SOCKET, SO_ERROR, [0], [4])
Calls::Outcome Calls::get_option(PendingCall& call) {
  const int descriptor = TRY(live_descriptor(*call.line));
  const int level = static_cast<int>(TRY(number_argument(*call.line, 1)));
  const int name = static_cast<int>(TRY(number_argument(*call.line, 2)));
  const Expression* expected = TRY(argument_of(*call.line, 3));
  const std::int64_t size = TRY(number_argument(*call.line, 4));
  NumberBytes bytes{};
  const auto room = static_cast<std::size_t>(std::clamp<std::int64_t>(size, 0, 8));
  const std::int64_t result = stack_.get_option(descriptor, level, name, std::span(bytes).first(room));
  if (result < 0 || expected->kind == Expression::Kind::ellipsis)
    return std::optional(std::min<std::int64_t>(result, 0));
  const std::int64_t wanted = TRY(value_of(*expected)), found = number_from(bytes);
  if (wanted == found) return std::optional<std::int64_t>(0);
  return Error::of(ErrorCode::corrupt, "the option ", call.line->arguments[2].text, " is ", found, ", expected ",
                   wanted);
}

Calls::Outcome Calls::file_control(PendingCall& call) {
  const std::int64_t command = TRY(number_argument(*call.line, 1));
  const auto file = files_.find(TRY(number_argument(*call.line, 0)));
  if (file == files_.end()) return std::optional<std::int64_t>(-EBADF);
  if (command == F_GETFL) return std::optional<std::int64_t>(O_RDWR | file->second.flags);
  if (command != F_SETFL) return Error::of(ErrorCode::unsupported, "fcntl with ", call.line->arguments[1].text);
  const std::int64_t flags = TRY(number_argument(*call.line, 2));
  file->second.flags = static_cast<int>(flags & O_NONBLOCK);
  return std::optional<std::int64_t>(0);
}

// ioctl(4, SIOCINQ, [1000])
Calls::Outcome Calls::device_control(PendingCall& call) {
  const int descriptor = TRY(live_descriptor(*call.line));
  const std::int64_t request = TRY(number_argument(*call.line, 1)), wanted = TRY(number_argument(*call.line, 2));
  int number = static_cast<int>(wanted);
  const std::int64_t result = stack_.control(descriptor, static_cast<std::uint64_t>(request), number);
  if (result < 0 || number == wanted) return std::optional(result);
  return Error::of(ErrorCode::corrupt, "ioctl answered ", number, ", expected ", wanted);
}

Result<std::int64_t> Calls::information(std::string_view name) {
  if (const auto constant = symbol(name)) return *constant;
  const auto field = information_field(name);
  if (!field) return Error::of(ErrorCode::unsupported, "the name ", name);
  std::array<std::uint8_t, sizeof(tcp_info)> bytes{};
  const std::int64_t size = stack_.get_option(information_descriptor_, IPPROTO_TCP, TCP_INFO, bytes);
  if (size < static_cast<std::int64_t>(field->offset + field->bytes)) {
    return Error::of(ErrorCode::unsupported, "the stack's tcp_info has no ", name);
  }
  return number_from(std::span(bytes).subspan(field->offset, field->bytes));
}

}  // namespace ingot::network_scripts
