// SharedStack: the stack behind its one lock. Sockets, drivers' threads and the timers' thread come in by it,
// each for a moment: what a program hands over in one call is moved in pieces.
#pragma once

#include <optional>
#include <string_view>

#include "os/network/stack.h"
#include "os/network/udp/udp_socket.h"
#include "os/schedule/mutex.h"

namespace ingot::os::network {

class SharedStack {
 public:
  // So much moves between a program and the stack before others are let in.
  static constexpr std::uint64_t piece_bytes = 32 * 1024;

  SharedStack(Machine& machine, ConfigurationEvents* listener, std::string_view host_name)
      : machine_(machine), stack_(std::in_place, machine, settings_, listener, host_name) {}

  // use(Stack&, Nanoseconds now), for calls of programs: what they made possible is sent before the lock is given back.
  template <class Use>
  auto with(Use&& use) {
    const MutexGuard guard(lock_);
    const Finish finish{*stack_};
    return use(*stack_, machine_.now());
  }
  // use(Stack&), for calls that the stack itself brings to their end, and those that only look.
  template <class Use>
  auto drive(Use&& use) {
    const MutexGuard guard(lock_);
    return use(*stack_);
  }
  // use(Stack&), for those who do not know whether it has ended.
  template <class Use>
  void drive_if_there(Use&& use) {
    const MutexGuard guard(lock_);
    if (stack_) use(*stack_);
  }
  // It forgets everything. Precondition: there is no socket, and will be none.
  void end() {
    const MutexGuard guard(lock_);
    stack_.reset();
  }
  // Within the functions above, or before anybody else comes in.
  TcpSettings& settings() { return settings_; }
  const TcpSettings& settings() const { return settings_; }

 private:
  struct Finish {
    ~Finish() { stack.finish(); }
    Stack& stack;
  };

  Machine& machine_;
  Mutex lock_{LockRank::network};
  TcpSettings settings_;
  std::optional<Stack> stack_;
};

}  // namespace ingot::os::network
