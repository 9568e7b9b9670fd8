// What the expressions of calls stand for, and messages with what is attached to them.
#include <ctime>

#include <linux/errqueue.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "tests/network/calls.h"
#include "tests/network/symbols.h"

namespace ingot::network_scripts {
namespace {

constexpr std::int64_t most_of_a_vector = std::int64_t{1} << 24;

struct ErrorField {
  std::string_view name;
  std::size_t offset, bytes;
};
constexpr std::array<ErrorField, 6> error_fields = {{
    {"ee_errno", offsetof(sock_extended_err, ee_errno), 4},
    {"ee_origin", offsetof(sock_extended_err, ee_origin), 1},
    {"ee_type", offsetof(sock_extended_err, ee_type), 1},
    {"ee_code", offsetof(sock_extended_err, ee_code), 1},
    {"ee_info", offsetof(sock_extended_err, ee_info), 4},
    {"ee_data", offsetof(sock_extended_err, ee_data), 4},
}};

Error other_control(std::string_view what, std::int64_t expected, std::int64_t actual) {
  return Error::of(ErrorCode::corrupt, "the message's ", what, " is ", actual, ", expected ", expected);
}

std::int64_t number_at(const Bytes& bytes, std::size_t offset, std::size_t size) {
  std::int64_t number = 0;
  if (offset + size <= bytes.size()) std::memcpy(&number, bytes.data() + offset, size);
  return number;
}

Result<void> check_control_data(const Expression& expected, const Bytes& bytes) {
  if (expected.kind != Expression::Kind::structure) {
    const std::int64_t wanted = TRY(value_of(expected)), found = number_at(bytes, 0, 4);
    return wanted == found ? Result<void>() : other_control("number", wanted, found);
  }
  if (member_of(expected, "ee_errno") == nullptr) {
    return Error::of(ErrorCode::unsupported, "what is attached to the message");
  }
  for (const ErrorField& field : error_fields) {
    const Expression* written = member_of(expected, field.name);
    if (written == nullptr) continue;
    const std::int64_t wanted = TRY(value_of(*written)), found = number_at(bytes, field.offset, field.bytes);
    if (wanted != found) return other_control(field.name, wanted, found);
  }
  return {};
}

Result<void> check_control(const Expression& expected, const ControlMessage& control) {
  const Expression *level = member_of(expected, "cmsg_level"), *type = member_of(expected, "cmsg_type"),
                   *data = member_of(expected, "cmsg_data");
  if (level == nullptr || type == nullptr || data == nullptr) {
    return Error::of(ErrorCode::unsupported, "what is attached to the message");
  }
  const std::int64_t wanted_level = TRY(value_of(*level)), wanted_type = TRY(value_of(*type));
  if (wanted_level != control.level) return other_control("cmsg_level", wanted_level, control.level);
  if (wanted_type != control.type) return other_control("cmsg_type", wanted_type, control.type);
  return check_control_data(*data, control.bytes);
}

}  // namespace

Result<std::int64_t> value_of(const Expression& expression) {
  switch (expression.kind) {
    case Expression::Kind::number: return expression.number;
    case Expression::Kind::word:
      if (const auto value = symbol(expression.text)) return *value;
      return Error::of(ErrorCode::unsupported, "the name ", expression.text);
    case Expression::Kind::any_of: {
      std::int64_t value = 0;
      for (const Expression& term : expression.items) value |= TRY(value_of(term));
      return value;
    }
    case Expression::Kind::list:
      if (expression.items.size() == 1) return value_of(expression.items[0]);
      break;
    default: break;
  }
  return Error::of(ErrorCode::unsupported, "an argument that is no number");
}

const Expression* member_of(const Expression& structure, std::string_view name) {
  for (const Expression& item : structure.items) {
    if (item.kind == Expression::Kind::field && item.items[0].text == name) return &item.items[1];
  }
  return nullptr;
}

Result<const Expression*> argument_of(const CallLine& line, std::size_t index) {
  if (index < line.arguments.size()) return &line.arguments[index];
  return Error::of(ErrorCode::unsupported, line.name, " with ", line.arguments.size(), " arguments");
}

Result<std::int64_t> number_argument(const CallLine& line, std::size_t index) {
  const Expression* argument = TRY(argument_of(line, index));
  return value_of(*argument);
}

// {msg_name(...)=..., msg_iov(1)=[{..., 1000}], msg_flags=0}, or the vectors alone.
Result<std::int64_t> vector_bytes(const Expression& message) {
  const Expression* vectors = message.kind == Expression::Kind::list ? &message : member_of(message, "msg_iov");
  if (vectors == nullptr) return Error::of(ErrorCode::unsupported, "a message without vectors");
  std::int64_t bytes = 0;
  for (const Expression& vector : vectors->items) {
    if (vector.items.size() != 2) return Error::of(ErrorCode::unsupported, "a vector of another form");
    bytes += std::clamp<std::int64_t>(TRY(value_of(vector.items[1])), 0, most_of_a_vector);
  }
  return bytes;
}

Result<void> check_message(const Expression& expected, const Message& message) {
  if (const Expression* flags = member_of(expected, "msg_flags")) {
    const std::int64_t wanted = TRY(value_of(*flags));
    if (wanted != message.flags) return other_control("msg_flags", wanted, message.flags);
  }
  const Expression* control = member_of(expected, "msg_control");
  if (control == nullptr) return {};
  if (control->items.size() != message.control.size()) {
    return other_control("control messages", static_cast<std::int64_t>(control->items.size()),
                         static_cast<std::int64_t>(message.control.size()));
  }
  for (std::size_t index = 0; index < message.control.size(); ++index) {
    TRY(check_control(control->items[index], message.control[index]));
  }
  return {};
}

}  // namespace ingot::network_scripts
