// Calls: makes a script's system calls on the stack and compares what comes back. Descriptors are the script's; whether
// they block is known here, as the stack never does.
#pragma once

#include <map>
#include <optional>

#include "tests/network/stack_under_test.h"

namespace ingot::network_scripts {

// A call from its begin until it returns.
struct PendingCall {
  const CallLine* line = nullptr;
  Microseconds begin = 0;
  bool is_begun = false;
  std::int64_t done = 0;  // bytes taken of what is written
};

class Calls {
 public:
  struct Place {
    int family = 0;
    Endpoint local, remote;  // where a script's `...` binds and connects to
  };

  Calls(StackUnderTest& stack, const Place& place) : stack_(stack), place_(place) {}

  // Whether it returned: what it gave back is what the script says. An error of the code `unsupported`: a call, a name
  // or a structure without a meaning here; `corrupt`: another outcome.
  Result<bool> attempt(PendingCall& call);

  // When a call that still blocks gives up by itself.
  std::optional<Microseconds> deadline(const PendingCall& call) const;

  // A member of tcp_info of the connection that was connected or accepted last.
  Result<std::int64_t> information(std::string_view name);

 private:
  struct File {
    int live = -1;
    int flags = 0;             // O_NONBLOCK
    bool holds_zeros = false;  // no socket, but a file
    bool is_datagram = false;
  };
  struct Watched {
    int descriptor = 0;
    std::uint32_t events = 0;
    std::uint64_t told = 0;
    bool is_armed = true, is_new = true;
  };
  // A result, or nothing while it blocks.
  using Outcome = Result<std::optional<std::int64_t>>;
  using Handler = Outcome (Calls::*)(PendingCall& call);
  static Handler handler_of(std::string_view name);

  Outcome socket(PendingCall& call);
  Outcome bind(PendingCall& call);
  Outcome listen(PendingCall& call);
  Outcome accept(PendingCall& call);
  Outcome connect(PendingCall& call);
  Outcome receive(PendingCall& call);
  Outcome receive_message(PendingCall& call);
  Outcome send(PendingCall& call);
  Outcome open(PendingCall& call);
  Outcome send_file(PendingCall& call);
  Outcome shutdown(PendingCall& call);
  Outcome close(PendingCall& call);
  Outcome get_option(PendingCall& call);
  Outcome set_option(PendingCall& call);
  Outcome file_control(PendingCall& call);
  Outcome device_control(PendingCall& call);
  Outcome poll(PendingCall& call);
  Outcome create_watch(PendingCall& call);
  Outcome change_watch(PendingCall& call);
  Outcome wait_for_watched(PendingCall& call);

  Result<int> live_descriptor(const CallLine& line) const;
  bool blocks(const CallLine& line, std::int64_t flags) const;
  Outcome unless_blocking(const CallLine& line, std::int64_t flags, std::int64_t result) const;
  Result<Endpoint> endpoint(const CallLine& line, std::size_t argument, const Endpoint& otherwise) const;
  Result<std::int64_t> bytes_to_send(const CallLine& line) const;
  Outcome send_bytes(PendingCall& call, std::int64_t bytes, const Message& how);
  std::uint32_t report(Watched& watched);
  Result<void> check_result(const CallLine& line, std::int64_t result);

  StackUnderTest& stack_;
  Place place_;
  std::map<std::int64_t, File> files_;  // by the script's descriptors
  std::map<std::int64_t, std::map<int, Watched>> watches_;
  int information_descriptor_ = -1;
};

// What an expression stands for: a number, a name, names joined by `|`; of a list its only member.
Result<std::int64_t> value_of(const Expression& expression);
// The member `name = value` of a structure, where it has one.
const Expression* member_of(const Expression& structure, std::string_view name);
Result<const Expression*> argument_of(const CallLine& line, std::size_t index);
Result<std::int64_t> number_argument(const CallLine& line, std::size_t index);

// Compares what came with a message with what the script has for it.
Result<void> check_message(const Expression& expected, const Message& message);
// Bytes that a message's vectors hold together.
Result<std::int64_t> vector_bytes(const Expression& message);

}  // namespace ingot::network_scripts
