// A system call: a function with typed arguments, and the row of the table that makes it one.
//
//   Answer<VirtualAddress> map_memory(Caller& caller, VirtualAddress wanted, std::uint64_t bytes, int protection, ...);
//   constexpr SystemCall rows[] = {system_call<&map_memory>("mmap"), ...};
//
// The types say how six registers become arguments, and to a trace how to print them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/system_call_numbers.h"
#include "os/arch/arch.h"
#include "os/syscall/errno.h"
#include "os/syscall/user_pointer.h"

namespace ingot::os {

struct Kernel;
class Process;
class UserThread;

// Who calls: the only way a call reaches anything.
struct Caller {
  Kernel& kernel;
  Process& process;
  UserThread& thread;
  arch::TrapFrame& registers;
};

enum class ArgumentKind : std::uint8_t { number, unsigned_number, address, text };

struct SystemCall {
  std::string_view name;
  std::uint16_t number = 0;
  Answer<std::uint64_t> (*call)(Caller&) = nullptr;
  std::array<ArgumentKind, 6> kinds{};
  std::uint8_t argument_count = 0;
  bool answers_address = false;
};

namespace system_call_detail {

template <class Argument>
struct Conversion {
  static_assert(std::is_integral_v<Argument> || std::is_enum_v<Argument>, "expected a type that a register can hold");
  static constexpr ArgumentKind kind =
      std::is_signed_v<Argument> ? ArgumentKind::number : ArgumentKind::unsigned_number;
  // The upper half of a register that carries a 32-bit argument is undefined.
  static Argument from(std::uint64_t value) { return static_cast<Argument>(value); }
};
template <>
struct Conversion<VirtualAddress> {
  static constexpr ArgumentKind kind = ArgumentKind::address;
  static VirtualAddress from(std::uint64_t value) { return VirtualAddress(value); }
};
template <class Object>
struct Conversion<UserPointer<Object>> {
  static constexpr ArgumentKind kind = ArgumentKind::address;
  static UserPointer<Object> from(std::uint64_t value) { return {VirtualAddress(value)}; }
};
template <>
struct Conversion<UserText> {
  static constexpr ArgumentKind kind = ArgumentKind::text;
  static UserText from(std::uint64_t value) { return {VirtualAddress(value)}; }
};

template <auto function, class Signature>
struct Row;
template <auto function, class Value, class... Arguments>
struct Row<function, Answer<Value> (*)(Caller&, Arguments...)> {
  static_assert(sizeof...(Arguments) <= 6);

  static Answer<std::uint64_t> call(Caller& caller) { return apply(caller, std::index_sequence_for<Arguments...>()); }
  static constexpr SystemCall row(std::string_view name, std::uint16_t number) {
    return {name,
            number,
            &call,
            {Conversion<Arguments>::kind...},
            sizeof...(Arguments),
            std::is_same_v<Value, VirtualAddress>};
  }

 private:
  template <std::size_t... Index>
  static Answer<std::uint64_t> apply(Caller& caller, std::index_sequence<Index...>) {
    auto answer = function(caller, Conversion<Arguments>::from(arch::system_call_argument(caller.registers, Index))...);
    if (!answer.ok()) return answer.error();
    if constexpr (std::is_void_v<Value>) {
      return std::uint64_t{0};
    } else if constexpr (std::is_same_v<Value, VirtualAddress>) {
      return answer.value().value();
    } else {
      return static_cast<std::uint64_t>(answer.value());
    }
  }
};

}  // namespace system_call_detail

// Does not compile for a name that Linux does not know, or that `ingot cast` would call missing.
template <auto function>
consteval SystemCall system_call(std::string_view name) {
  if (!is_implemented_system_call(name)) __builtin_trap();
  return system_call_detail::Row<function, decltype(function)>::row(name, system_call_number(name).value());
}

}  // namespace ingot::os
