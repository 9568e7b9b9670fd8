// Signals as programs know them: numbers, sets, what comes along, and what is to be done (man 7 signal). The layouts
// are Linux's.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

namespace ingot::os {

// 1 to 31 are the standard ones: while one waits, more of the same are lost. 32 to 64 queue. Those without a name here
// mean nothing to the kernel.
enum class Signal : std::uint32_t {
  none = 0,
  interrupt = 2,
  quit = 3,
  illegal_instruction = 4,
  trap = 5,
  abort = 6,
  bus_error = 7,
  arithmetic_error = 8,
  kill = 9,
  no_memory_there = 11,
  broken_pipe = 13,
  alarm = 14,
  terminate = 15,
  child = 17,
  go_on = 18,
  stop = 19,
  terminal_stop = 20,
  terminal_input = 21,
  terminal_output = 22,
  urgent = 23,
  processor_limit = 24,
  file_limit = 25,
  virtual_alarm = 26,
  profile_alarm = 27,
  window = 28,
  bad_call = 31,
};
inline constexpr std::uint32_t signal_count = 64;

constexpr bool is_signal(std::uint32_t number) { return number >= 1 && number <= signal_count; }
constexpr bool queues(Signal signal) { return static_cast<std::uint32_t>(signal) >= 32; }

class SignalSet {
 public:
  constexpr SignalSet() = default;
  constexpr explicit SignalSet(std::uint64_t bits) : bits_(bits) {}
  template <class... Signals>
  static constexpr SignalSet of(Signals... signals) {
    return SignalSet((bit(signals) | ... | 0));
  }

  constexpr std::uint64_t bits() const { return bits_; }
  constexpr bool is_empty() const { return bits_ == 0; }
  constexpr bool has(Signal signal) const { return (bits_ & bit(signal)) != 0; }
  constexpr void add(Signal signal) { bits_ |= bit(signal); }
  constexpr void remove(Signal signal) { bits_ &= ~bit(signal); }
  // Precondition: not empty.
  constexpr Signal lowest() const { return static_cast<Signal>(std::countr_zero(bits_) + 1); }

  constexpr SignalSet operator|(SignalSet other) const { return SignalSet(bits_ | other.bits_); }
  constexpr SignalSet operator&(SignalSet other) const { return SignalSet(bits_ & other.bits_); }
  constexpr SignalSet operator~() const { return SignalSet(~bits_); }
  constexpr bool operator==(const SignalSet&) const = default;

 private:
  static constexpr std::uint64_t bit(Signal signal) {
    return std::uint64_t{1} << (static_cast<std::uint32_t>(signal) - 1);
  }
  std::uint64_t bits_ = 0;
};

namespace signals {
// Nobody can keep these away.
inline constexpr SignalSet never_blocked = SignalSet::of(Signal::kill, Signal::stop);
// A thread's own instruction caused them: they come first, before the next one runs.
inline constexpr SignalSet of_faults =
    SignalSet::of(Signal::no_memory_there, Signal::bus_error, Signal::illegal_instruction, Signal::trap,
                  Signal::arithmetic_error, Signal::bad_call);
// What is done where the program did not say: nothing, or what asks for job control, which there is none of.
inline constexpr SignalSet ignored_unless_asked =
    SignalSet::of(Signal::child, Signal::go_on, Signal::urgent, Signal::window);
inline constexpr SignalSet stop_the_program =
    SignalSet::of(Signal::stop, Signal::terminal_stop, Signal::terminal_input, Signal::terminal_output);
}  // namespace signals

// siginfo_t.
struct SignalInformation {
  std::int32_t number = 0;
  std::int32_t error = 0;
  std::int32_t code = 0;
  std::int32_t padding = 0;
  std::uint64_t fields[14] = {};  // by the code: who sent it, or the address of a fault

  Signal signal() const { return static_cast<Signal>(number); }

  static SignalInformation of(Signal signal, std::int32_t code, std::uint64_t first = 0) {
    SignalInformation information;
    information.number = static_cast<std::int32_t>(signal);
    information.code = code;
    information.fields[0] = first;  // a process and, above it, a user; or an address
    return information;
  }
};
static_assert(sizeof(SignalInformation) == 128);

namespace signal_code {
inline constexpr std::int32_t by_kill = 0, by_kernel = 0x80, by_timer = -2, by_message_queue = -3, by_thread_kill = -6;
inline constexpr std::int32_t not_mapped = 1, not_allowed = 2;     // no_memory_there
inline constexpr std::int32_t misaligned = 1, beyond_the_end = 2;  // bus_error
inline constexpr std::int32_t divided_by_zero = 1;                 // arithmetic_error, of integers
inline constexpr std::int32_t bad_opcode = 1, bad_operand = 2;     // illegal_instruction
inline constexpr std::int32_t breakpoint = 1, single_step = 2;     // trap
}  // namespace signal_code

// struct sigaction, as the call hands it over.
struct SignalAction {
  static constexpr std::uint64_t by_default = 0, ignore = 1;  // instead of a handler's address
  static constexpr std::uint64_t on_alternate_stack = 0x0800'0000, restart = 0x1000'0000, no_defer = 0x4000'0000,
                                 once = 0x8000'0000, has_restorer = 0x0400'0000;

  std::uint64_t handler = by_default;
  std::uint64_t flags = 0;
  std::uint64_t restorer = 0;  // where a handler returns to: it calls rt_sigreturn
  SignalSet blocked;           // while the handler runs

  bool has_handler() const { return handler != by_default && handler != ignore; }
  bool has(std::uint64_t flag) const { return (flags & flag) != 0; }
  bool ignores(Signal signal) const {
    return handler == ignore || (handler == by_default && signals::ignored_unless_asked.has(signal));
  }
  bool ends_program(Signal signal) const {
    return handler == by_default && !(signals::ignored_unless_asked | signals::stop_the_program).has(signal);
  }
};
static_assert(sizeof(SignalAction) == 32);

// stack_t.
struct AlternateStack {
  static constexpr std::uint32_t in_use = 1, disabled = 2, disarms_itself = 0x8000'0000;
  static constexpr std::uint64_t least_bytes = 2048;

  std::uint64_t begin = 0;
  std::uint32_t flags = disabled;
  std::uint32_t padding = 0;
  std::uint64_t bytes = 0;

  bool is_set() const { return bytes != 0; }
  bool holds(std::uint64_t stack_pointer) const { return stack_pointer > begin && stack_pointer - begin <= bytes; }
  // A handler's frame of this size, and something above. One that is not set keeps nobody from the usual stack.
  bool has_room_for(std::uint64_t frame_bytes) const { return !is_set() || bytes > frame_bytes; }
  // As the program sees it.
  AlternateStack seen_from(std::uint64_t stack_pointer) const {
    AlternateStack seen = *this;
    seen.flags = (flags & disarms_itself) | (!is_set() ? disabled : holds(stack_pointer) ? in_use : 0);
    return seen;
  }
};
static_assert(sizeof(AlternateStack) == 24);

std::string_view name_of(Signal signal);  // "SIGSEGV"; "SIGRT" for all that queue

}  // namespace ingot::os
