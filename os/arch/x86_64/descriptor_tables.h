// Segments, the task state with its interrupt stacks, and the gates of all 256 vectors (Intel SDM volume 3, 3.5, 6.14,
// 7.7). In long mode segments do little: they say which ring runs, and the task state says on which stack.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "os/memory/address.h"

namespace ingot::os::arch {

// In the order that SYSCALL and SYSRET demand: user data directly below user code.
enum Selector : std::uint16_t {
  kernel_code = 0x08,
  kernel_data = 0x10,
  user_data = 0x18 | 3,
  user_code = 0x20 | 3,
  task_state = 0x28,
};

// Exceptions that may find the current stack unusable get a stack of their own: an entry of the interrupt stack table.
enum class InterruptStack : std::uint8_t { none, double_fault, non_maskable, machine_check };

// A stack above a page that kernel_space.cc leaves unmapped: who runs past its end faults, instead of overwriting.
template <std::size_t Bytes>
struct GuardedStack {
  alignas(page_bytes) std::byte guard[page_bytes];
  std::byte memory[Bytes];

  VirtualAddress top() const { return VirtualAddress(reinterpret_cast<std::uint64_t>(memory + Bytes)); }
  VirtualAddress guard_page() const { return VirtualAddress(reinterpret_cast<std::uint64_t>(guard)); }
};

struct [[gnu::packed]] TaskState {
  std::uint32_t reserved_0 = 0;
  std::uint64_t ring_stacks[3] = {};
  std::uint64_t reserved_1 = 0;
  std::uint64_t interrupt_stacks[7] = {};
  std::uint64_t reserved_2 = 0;
  std::uint16_t reserved_3 = 0;
  std::uint16_t port_bitmap = sizeof(TaskState);  // none: no program may use ports
};
static_assert(sizeof(TaskState) == 104);

// One CPU's segments and stacks. It must not move once loaded.
class SegmentTable {
 public:
  void set_interrupt_stack(InterruptStack which, VirtualAddress top);
  // Where interrupts of ring 3 arrive.
  void set_entry_stack(VirtualAddress top) { task_state_.ring_stacks[0] = top.value(); }
  void load();

 private:
  TaskState task_state_;
  std::array<std::uint64_t, 7> descriptors_{};
};

// The gates, shared by all CPUs: vector v enters trap_entry.S at its v-th stub.
class GateTable {
 public:
  void fill();
  void load() const;

 private:
  struct Gate {
    std::uint64_t low, high;
  };
  alignas(16) std::array<Gate, 256> gates_{};
};

}  // namespace ingot::os::arch
