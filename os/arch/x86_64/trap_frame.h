// What trap_entry.S pushes when the CPU was interrupted, lowest address first.
#pragma once

#include <cstdint>

#include "os/memory/address.h"

namespace ingot::os::arch {

struct TrapFrame {
  std::uint64_t r15, r14, r13, r12, r11, r10, r9, r8, rbp, rdi, rsi, rdx, rcx, rbx, rax;
  std::uint64_t vector;
  std::uint64_t error_code;  // 0 where the CPU pushes none
  std::uint64_t rip, cs, rflags, rsp, ss;
};
static_assert(sizeof(TrapFrame) == 22 * 8);

inline VirtualAddress instruction_of(const TrapFrame& frame) { return VirtualAddress(frame.rip); }
inline VirtualAddress stack_pointer_of(const TrapFrame& frame) { return VirtualAddress(frame.rsp); }
inline VirtualAddress frame_pointer_of(const TrapFrame& frame) { return VirtualAddress(frame.rbp); }

// Vectors that the CPU itself raises (Intel SDM volume 3, 6.3.1).
namespace exception {
inline constexpr std::uint64_t divide_error = 0, debug = 1, non_maskable = 2, breakpoint = 3, invalid_opcode = 6,
                               device_not_available = 7, double_fault = 8, general_protection = 13, page_fault = 14,
                               machine_check = 18, count = 32;
}  // namespace exception

}  // namespace ingot::os::arch
