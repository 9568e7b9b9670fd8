// What arch.h promises, in instructions: no C++ expression names any of these, so each is a line of assembly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "os/arch/processor_header.h"
#include "os/arch/x86_64/context_switch.h"
#include "os/arch/x86_64/descriptor_tables.h"
#include "os/arch/x86_64/port.h"
#include "os/arch/x86_64/trap_frame.h"
#include "os/arch/x86_64/user_state.h"
#include "os/arch/x86_64/user_vectors.h"
#include "os/arch/x86_64/vector_state.h"
#include "os/memory/address.h"
#include "os/memory/kernel_stack.h"

namespace ingot::os::arch {

inline void pause() { __builtin_ia32_pause(); }

inline bool interrupts_enabled() {
  std::uint64_t flags = 0;
  asm volatile("pushfq; popq %0" : "=r"(flags) : : "memory");
  constexpr std::uint64_t interrupt_flag = 1u << 9;
  return (flags & interrupt_flag) != 0;
}
// "memory": what a critical section reads and writes must not be moved out of it.
inline void enable_interrupts() { asm volatile("sti" : : : "memory"); }
inline void disable_interrupts() { asm volatile("cli" : : : "memory"); }
// sti takes effect after the instruction that follows it, so no interrupt comes between the two.
inline void wait_for_interrupt() { asm volatile("sti; hlt" : : : "memory"); }
[[noreturn]] inline void halt_forever() {
  for (;;) asm volatile("cli; hlt");
}

[[noreturn]] inline void triple_fault() {
  constexpr struct [[gnu::packed]] {
    std::uint16_t last_byte = 0;
    std::uint64_t address = 0;
  } no_gates;
  asm volatile("lidt %0; int3" : : "m"(no_gates));
  halt_forever();
}

inline std::uint64_t cycle_count() { return __builtin_ia32_rdtsc(); }

inline ProcessorHeader& current_cpu() {
  ProcessorHeader* header = nullptr;
  asm volatile("movq %%gs:%c1, %0" : "=r"(header) : "i"(offsetof(ProcessorHeader, self)));
  return *header;
}

struct ProcessorTables {
  SegmentTable segments;
  VectorLayout vectors;
  std::uint32_t forbidden_parts = 0;  // of the vector state, to the thread whose state is loaded
  KernelStack interrupt_stacks[3];    // of CPUs that were started; the first one's are in the image
};

inline std::uint64_t read_model_register(std::uint32_t number) {
  std::uint32_t low = 0, high = 0;
  asm volatile("rdmsr" : "=a"(low), "=d"(high) : "c"(number) : "memory");
  return std::uint64_t{high} << 32 | low;
}
inline void write_model_register(std::uint32_t number, std::uint64_t value) {
  asm volatile("wrmsr"
               :
               : "c"(number), "a"(static_cast<std::uint32_t>(value)), "d"(static_cast<std::uint32_t>(value >> 32))
               : "memory");
}

inline void set_current_cpu(ProcessorHeader& header) {
  constexpr std::uint32_t gs_base = 0xc0000101;
  header.self = &header;
  write_model_register(gs_base, reinterpret_cast<std::uint64_t>(&header));
}

extern "C" std::uint64_t ingot_copy_user(void* to, const void* from, std::uint64_t bytes);
inline std::uint64_t copy_user(void* to, const void* from, std::uint64_t bytes) {
  return ingot_copy_user(to, from, bytes);
}

inline void invalidate_page(VirtualAddress address) { asm volatile("invlpg (%0)" : : "r"(address.value()) : "memory"); }
inline void load_page_table(PhysicalAddress table) { asm volatile("movq %0, %%cr3" : : "r"(table.value()) : "memory"); }
inline PhysicalAddress loaded_page_table() {
  std::uint64_t value = 0;
  asm volatile("movq %%cr3, %0" : "=r"(value));
  return PhysicalAddress(value & 0x000ffffffffff000u);
}

// Linear address of the last page fault.
inline VirtualAddress fault_address() {
  std::uint64_t value = 0;
  asm volatile("movq %%cr2, %0" : "=r"(value));
  return VirtualAddress(value);
}

inline std::uint64_t read_control_register_4() {
  std::uint64_t value = 0;
  asm volatile("movq %%cr4, %0" : "=r"(value));
  return value;
}
inline void write_control_register_4(std::uint64_t value) { asm volatile("movq %0, %%cr4" : : "r"(value) : "memory"); }

// Only a change of this bit forgets global pages, too (SDM volume 3, 4.10.4.1).
inline constexpr std::uint64_t global_pages = 1 << 7;
inline void invalidate_all_pages() {
  const std::uint64_t control = read_control_register_4();
  write_control_register_4(control ^ global_pages);
  write_control_register_4(control);
}

struct CpuidResult {
  std::uint32_t eax, ebx, ecx, edx;
};
inline CpuidResult cpuid(std::uint32_t leaf, std::uint32_t subleaf = 0) {
  CpuidResult result{};
  asm volatile("cpuid"
               : "=a"(result.eax), "=b"(result.ebx), "=c"(result.ecx), "=d"(result.edx)
               : "a"(leaf), "c"(subleaf));
  return result;
}

// From the CPU's own source; nothing where it has none, or it is exhausted.
inline std::optional<std::uint64_t> random_word() {
  constexpr std::uint32_t has_rdrand = 1u << 30;
  if ((cpuid(1).ecx & has_rdrand) == 0) return {};
  for (int tries = 0; tries < 10; ++tries) {
    std::uint64_t drawn = 0;
    bool valid = false;
    asm volatile("rdrand %0" : "=r"(drawn), "=@ccc"(valid));  // assembly: its builtin needs a compiler flag
    if (valid) return drawn;
  }
  return {};
}

}  // namespace ingot::os::arch
