// Stacks that can be left and taken up again (context_switch.S).
#pragma once

#include <cstdint>

#include "os/memory/address.h"

extern "C" {
void ingot_switch_stack(void** left, void* taken);
void ingot_begin_stack();
}

namespace ingot::os::arch {

// The frame that ingot_switch_stack pops, lowest address first.
struct SwitchFrame {
  std::uint64_t r15, r14, r13;
  void* r12;
  void (*rbx)(void*);
  std::uint64_t rbp;
  void (*return_address)();
};

inline void* prepare_stack(VirtualAddress top, void (*entry)(void*), void* argument) {
  auto* frame = reinterpret_cast<SwitchFrame*>(top.value()) - 1;
  *frame = {0, 0, 0, argument, entry, 0, &ingot_begin_stack};  // backtraces end at the frame pointer 0
  return frame;
}
inline void switch_stack(void*& left, void* taken) { ingot_switch_stack(&left, taken); }

}  // namespace ingot::os::arch
