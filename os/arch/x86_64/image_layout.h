// Where the kernel lies: the addresses that kernel.ld and entry.S define. They change when move_kernel.cc moves it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "os/arch/x86_64/descriptor_tables.h"
#include "os/boot/memory_map.h"
#include "os/memory/address.h"

extern "C" {
extern const std::byte ingot_text_begin[], ingot_text_end[], ingot_rodata_end[], ingot_data_end[];
extern const std::byte ingot_symbols_begin[], ingot_symbols_end[], ingot_kernel_end[];
extern const std::uint64_t ingot_entry_cycles, ingot_window_base;
extern const std::uint32_t ingot_physical_begin;
// The page table: of 512 GiB, of the window's and the kernel's GiB, and of the 2 MiB in each first one.
extern std::uint64_t ingot_root_table[512], ingot_low_tables[512], ingot_kernel_tables[512];
extern std::uint64_t ingot_low_directory[512], ingot_kernel_directory[512];
}

namespace ingot::os::arch {

// All physical memory, never executable: 512 GiB for each entry in the root table.
inline VirtualAddress window_base() { return VirtualAddress(ingot_window_base); }

inline VirtualAddress address_of(const void* object) { return VirtualAddress(reinterpret_cast<std::uint64_t>(object)); }
// Precondition: the object is part of the image.
inline PhysicalAddress physical_address_of(const void* object) {
  return PhysicalAddress(ingot_physical_begin) + (address_of(object) - address_of(ingot_text_begin));
}
inline PhysicalRange image_range() {
  return {PhysicalAddress(ingot_physical_begin), static_cast<std::uint64_t>(ingot_kernel_end - ingot_text_begin)};
}
// The 2 MiB page that holds the whole image.
inline VirtualAddress kernel_base() { return address_of(ingot_text_begin).rounded_down(large_page_bytes); }
inline PhysicalAddress physical_kernel_base() { return image_range().begin.rounded_down(large_page_bytes); }

// The stacks of the CPU that boots; the others' are allocated.
struct BootStacks {
  GuardedStack<24 * 1024> main;  // first: entry.S knows its end
  GuardedStack<8 * 1024> double_fault, non_maskable, machine_check;
};
extern "C" BootStacks ingot_boot_stacks;

}  // namespace ingot::os::arch
