#include "os/arch/x86_64/descriptor_tables.h"

#include "os/arch/x86_64/trap_frame.h"

namespace ingot::os::arch {

namespace {

// The operand of LGDT and LIDT.
struct [[gnu::packed]] TablePointer {
  std::uint16_t limit;
  std::uint64_t address;
};

InterruptStack stack_of(std::size_t vector) {
  switch (vector) {
    case exception::double_fault: return InterruptStack::double_fault;
    case exception::non_maskable: return InterruptStack::non_maskable;
    case exception::machine_check: return InterruptStack::machine_check;
    default: return InterruptStack::none;
  }
}

}  // namespace

extern "C" const char ingot_trap_stubs[];
inline constexpr std::size_t trap_stub_bytes = 16;

void SegmentTable::set_interrupt_stack(InterruptStack which, VirtualAddress top) {
  task_state_.interrupt_stacks[static_cast<std::size_t>(which) - 1] = top.value();
}

void SegmentTable::load() {
  const auto base = reinterpret_cast<std::uint64_t>(&task_state_);
  descriptors_ = {
      0,
      0x00af9b000000ffff,  // 64-bit code, ring 0
      0x00cf93000000ffff,  // data, ring 0
      0x00cff3000000ffff,  // data, ring 3
      0x00affb000000ffff,  // 64-bit code, ring 3
      // An available 64-bit task state, whose base is scattered over two entries.
      (sizeof(TaskState) - 1) | (base & 0xffffff) << 16 | std::uint64_t{0x89} << 40 | (base >> 24 & 0xff) << 56,
      base >> 32,
  };
  const TablePointer pointer{sizeof descriptors_ - 1, reinterpret_cast<std::uint64_t>(descriptors_.data())};
  // Assembly: the instructions that load tables. Only a far return loads the code segment.
  asm volatile(
      "lgdt %0\n\t"
      "pushq %1\n\t"
      "leaq 1f(%%rip), %%rax\n\t"
      "pushq %%rax\n\t"
      "lretq\n"
      "1:\n\t"
      "movl %2, %%ss\n\t"
      "ltr %w3"
      :
      : "m"(pointer), "i"(Selector::kernel_code), "r"(std::uint32_t{Selector::kernel_data}),
        "r"(std::uint32_t{Selector::task_state})
      : "rax", "memory");
}

void GateTable::fill() {
  for (std::size_t vector = 0; vector < gates_.size(); ++vector) {
    const auto stub = reinterpret_cast<std::uint64_t>(ingot_trap_stubs + vector * trap_stub_bytes);
    // A present interrupt gate, closed to ring 3 but for breakpoints: interrupts stay off until the handler returns.
    const std::uint64_t type = vector == exception::breakpoint ? 0xee : 0x8e;
    gates_[vector] = {(stub & 0xffff) | std::uint64_t{Selector::kernel_code} << 16 |
                          static_cast<std::uint64_t>(stack_of(vector)) << 32 | type << 40 | (stub >> 16 & 0xffff) << 48,
                      stub >> 32};
  }
}

void GateTable::load() const {
  const TablePointer pointer{sizeof gates_ - 1, reinterpret_cast<std::uint64_t>(gates_.data())};
  asm volatile("lidt %0" : : "m"(pointer));  // assembly: the instruction that loads the table
}

}  // namespace ingot::os::arch
