// What a program's thread has in the CPU beside the registers of its TrapFrame, and how its system calls look there.
#pragma once

#include <cstddef>
#include <cstdint>

#include "os/arch/x86_64/trap_frame.h"
#include "os/memory/address.h"
#include "os/memory/user_memory.h"

namespace ingot::os::arch {

// On each CPU: SYSCALL arrives at user_entry.S, and RDTSCP tells a program the CPU's number, where there is one.
void enable_system_calls();
bool tells_processor();

struct UserState {
  VirtualAddress entry_stack;  // the top of the thread's kernel stack: where it arrives from ring 3
  UserAddress fs_base;         // its thread-local storage
  UserAddress gs_base;

  // On this CPU, whenever it begins to run the thread.
  void load() const;
};

// Frames of a program that begins, and of one that goes on on another stack with the answer 0.
TrapFrame first_frame(UserAddress instruction, VirtualAddress stack);
TrapFrame cloned_frame(const TrapFrame& parent, VirtualAddress stack);
// To ring 3. Precondition: the frame lies on this thread's kernel stack; nothing below it is needed any more.
[[noreturn]] void enter_user(TrapFrame& frame);

inline bool is_from_user(const TrapFrame& frame) { return (frame.cs & 3) != 0; }

// Where system calls have their number, arguments and answer (System V ABI for AMD64, A.2.1).
inline std::uint64_t system_call_number(const TrapFrame& frame) { return frame.error_code; }
[[gnu::always_inline]] inline std::uint64_t system_call_argument(const TrapFrame& frame, std::size_t index) {
  constexpr std::uint64_t TrapFrame::* registers[] = {&TrapFrame::rdi, &TrapFrame::rsi, &TrapFrame::rdx,
                                                      &TrapFrame::r10, &TrapFrame::r8,  &TrapFrame::r9};
  return frame.*registers[index];
}
inline void set_system_call_answer(TrapFrame& frame, std::uint64_t answer) { frame.rax = answer; }
inline std::uint64_t system_call_answer(const TrapFrame& frame) { return frame.rax; }
// The program asks once more: SYSCALL is two bytes long.
inline void repeat_system_call(TrapFrame& frame) {
  frame.rax = frame.error_code;
  frame.rip -= 2;
}

}  // namespace ingot::os::arch
