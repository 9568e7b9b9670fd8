// arch_prctl: registers of the CPU that a program cannot set by itself, and parts of the vector state that it has to
// ask for (man 2 arch_prctl; Linux, Documentation/arch/x86/xstate.rst).
#include "os/process/process.h"
#include "os/syscall/table.h"

namespace ingot::os {

namespace {

enum class RegisterRequest : std::uint32_t {
  set_gs = 0x1001,
  set_fs = 0x1002,
  get_fs = 0x1003,
  get_gs = 0x1004,
  get_supported_parts = 0x1021,
  get_permitted_parts = 0x1022,
  ask_for_part = 0x1023,
};

Answer<void> set_base(arch::UserState& state, UserAddress arch::UserState::* base, std::uint64_t value) {
  const std::optional<UserAddress> address = UserAddress::of(value);
  if (!address) return Errno::eperm;
  const InterruptsOff here;
  state.*base = *address;
  state.load();
  return {};
}

Answer<void> ask_for_part(Process& process, std::uint64_t number) {
  constexpr std::uint64_t known_parts = 19;  // up to AMX's tiles, as Linux counts
  if (number >= known_parts) return Errno::einval;
  const std::uint64_t part = std::uint64_t{1} << number;
  if ((arch::vector_parts_on_request() & part) == 0) return Errno::eopnotsupp;
  return process.grant_vector_parts(part);
}

Answer<void> use_registers(Caller& caller, RegisterRequest request, std::uint64_t value) {
  arch::UserState& state = caller.thread.state();
  const UserPointer<std::uint64_t> place{VirtualAddress(value)};
  switch (request) {
    case RegisterRequest::set_gs: return set_base(state, &arch::UserState::gs_base, value);
    case RegisterRequest::set_fs: return set_base(state, &arch::UserState::fs_base, value);
    case RegisterRequest::get_fs: return place.write(state.fs_base.value());
    case RegisterRequest::get_gs: return place.write(state.gs_base.value());
    case RegisterRequest::get_supported_parts: return place.write(arch::vector_parts());
    case RegisterRequest::get_permitted_parts:
      return place.write((arch::vector_parts() & ~arch::vector_parts_on_request()) |
                         caller.process.granted_vector_parts());
    case RegisterRequest::ask_for_part: return ask_for_part(caller.process, value);
  }
  return Errno::einval;
}

constexpr SystemCall rows[] = {
    system_call<&use_registers>("arch_prctl"),
};

}  // namespace

std::span<const SystemCall> register_calls() { return rows; }

}  // namespace ingot::os
