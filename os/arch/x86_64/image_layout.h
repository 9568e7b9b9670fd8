// Where the kernel lies: the addresses that kernel.ld and entry.S define.
#pragma once

#include <cstddef>
#include <cstdint>

#include "os/arch/x86_64/descriptor_tables.h"
#include "os/memory/address.h"

extern "C" {
extern const std::byte ingot_text_begin[], ingot_text_end[], ingot_rodata_end[], ingot_data_end[];
extern const std::byte ingot_symbols_begin[], ingot_symbols_end[], ingot_kernel_end[];
extern const std::uint64_t ingot_entry_cycles;
}

namespace ingot::os::arch {

inline constexpr VirtualAddress kernel_base{0xffffffff80000000};  // where physical address 0 appears to kernel code
inline constexpr VirtualAddress window_base{0xffff800000000000};  // all physical memory, never executable

inline VirtualAddress address_of(const void* object) { return VirtualAddress(reinterpret_cast<std::uint64_t>(object)); }
// Precondition: the object is part of the image.
inline PhysicalAddress physical_address_of(const void* object) {
  return PhysicalAddress(address_of(object) - kernel_base);
}

// The stacks of the CPU that boots; the others' are allocated.
struct BootStacks {
  GuardedStack<16 * 1024> main;  // first: entry.S knows its end
  GuardedStack<8 * 1024> double_fault, non_maskable, machine_check;
};
extern "C" BootStacks ingot_boot_stacks;

}  // namespace ingot::os::arch
