// What our own UEFI loader (os/uefi) leaves for the kernel: plain data, all addresses physical and below 1 GiB but for
// what the kernel only lists.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "os/boot/boot_info.h"
#include "os/boot/loader_memory.h"

namespace ingot::os {

struct UefiHandover {
  static constexpr std::uint64_t expected_magic = 0x3174'6f67'6e69'2b45;  // the last digit is the version

  std::uint64_t magic;
  std::uint64_t memory_map, memory_map_bytes;
  std::uint64_t descriptor_bytes;            // from one entry to the next: firmware may know longer ones than we do
  std::uint64_t command_line;                // ends with a zero; 0: none
  std::uint64_t initramfs, initramfs_bytes;  // empty: none
  std::uint64_t acpi_root;                   // 0: none
  std::uint64_t entropy;
  std::uint64_t framebuffer;  // 0: none
  std::uint32_t width, height, pitch, bits_per_pixel;
};
static_assert(sizeof(UefiHandover) == 96);

// An entry of the firmware's memory map (UEFI specification, 7.2).
struct UefiMemoryDescriptor {
  std::uint32_t type, padding;
  std::uint64_t physical, virtual_address, pages, attributes;

  MemoryKind kind() const;
};
static_assert(sizeof(UefiMemoryDescriptor) == 40);

// Reads the structure into `boot_info`. Bounds-checked as those of other loaders, for it crossed from one program to
// another.
Result<void> read_uefi_handover(const LoaderMemory& memory, PhysicalAddress handover, BootInfo& boot_info);

}  // namespace ingot::os
