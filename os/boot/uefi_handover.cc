#include "os/boot/uefi_handover.h"

namespace ingot::os {

MemoryKind UefiMemoryDescriptor::kind() const {
  switch (type) {
    case 1:  // the loader's code and data: read, and then of no use
    case 2:
    case 3:  // the firmware's until ExitBootServices
    case 4:
    case 7: return MemoryKind::usable;
    case 8: return MemoryKind::bad;
    case 9: return MemoryKind::acpi_reclaimable;
    case 10: return MemoryKind::acpi_nvs;
    default: return MemoryKind::reserved;  // runtime services, devices, and what may be invented later
  }
}

Result<void> read_uefi_handover(const LoaderMemory& memory, PhysicalAddress handover, BootInfo& boot_info) {
  const auto found = TRY(memory.read<UefiHandover>(handover));
  if (found.magic != UefiHandover::expected_magic) {
    return Error::of(ErrorCode::corrupt, "expected the UEFI loader's magic ",
                     PhysicalAddress(UefiHandover::expected_magic), ", found ", PhysicalAddress(found.magic));
  }
  if (found.descriptor_bytes < sizeof(UefiMemoryDescriptor)) {
    return Error::of(ErrorCode::corrupt, "expected memory map entries of at least ", sizeof(UefiMemoryDescriptor),
                     " bytes, found ", found.descriptor_bytes);
  }
  for (std::uint64_t at = 0; found.memory_map_bytes - at >= found.descriptor_bytes; at += found.descriptor_bytes) {
    const auto entry = TRY(memory.read<UefiMemoryDescriptor>(PhysicalAddress(found.memory_map + at)));
    std::uint64_t bytes = 0;
    if (__builtin_mul_overflow(entry.pages, page_bytes, &bytes)) {
      return Error::of(ErrorCode::overflow, "expected memory that ends below 2^64, found ", entry.pages, " pages");
    }
    TRY(boot_info.memory.add({PhysicalAddress(entry.physical), bytes, entry.kind()}));
  }
  if (found.command_line != 0) {
    const auto text = TRY(memory.text(PhysicalAddress(found.command_line), BootInfo::command_line_capacity));
    boot_info.command_line.append(text);
  }
  if (found.initramfs_bytes != 0) {
    TRY(boot_info.add_module({PhysicalAddress(found.initramfs), found.initramfs_bytes}));
  }
  if (found.acpi_root != 0) boot_info.acpi_root = PhysicalAddress(found.acpi_root);
  if (found.framebuffer != 0) {
    boot_info.framebuffer = Framebuffer{PhysicalAddress(found.framebuffer), found.width, found.height, found.pitch,
                                        static_cast<std::uint8_t>(found.bits_per_pixel)};
  }
  boot_info.entropy ^= found.entropy;
  return {};
}

}  // namespace ingot::os
