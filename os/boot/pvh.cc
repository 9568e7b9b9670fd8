#include "os/boot/pvh.h"

namespace ingot::os {

namespace {

// Layouts as in the ABI document; all fields little-endian, as the CPU.
struct StartInfo {
  std::uint32_t magic;
  std::uint32_t version;
  std::uint32_t flags;
  std::uint32_t module_count;
  std::uint64_t modules;
  std::uint64_t command_line;
  std::uint64_t acpi_root;
};
struct StartInfoMemoryMap {  // follows StartInfo from version 1 on
  std::uint64_t entries;
  std::uint32_t entry_count;
  std::uint32_t reserved;
};
struct Module {
  std::uint64_t address;
  std::uint64_t bytes;
  std::uint64_t command_line;
  std::uint64_t reserved;
};
static_assert(sizeof(StartInfo) == 40 && sizeof(StartInfoMemoryMap) == 16 && sizeof(Module) == 32);

constexpr std::uint32_t start_info_magic = 0x336ec578;

}  // namespace

Result<void> read_pvh_start_info(const LoaderMemory& memory, PhysicalAddress start_info, BootInfo& boot_info) {
  const StartInfo info = TRY(memory.read<StartInfo>(start_info));
  if (info.magic != start_info_magic) {
    return Error::of(ErrorCode::corrupt, "expected the PVH magic ", PhysicalAddress(start_info_magic), ", found ",
                     PhysicalAddress(info.magic));
  }
  if (info.version < 1) {
    return Error::of(ErrorCode::unsupported, "expected PVH start info of version 1 (with a memory map), found version ",
                     info.version);
  }

  const auto map = TRY(memory.read<StartInfoMemoryMap>(start_info + sizeof(StartInfo)));
  for (std::uint32_t index = 0; index < map.entry_count; ++index) {
    const PhysicalAddress place(map.entries + index * sizeof(E820Entry));
    const auto entry = TRY(memory.read<E820Entry>(place));
    TRY(boot_info.memory.add(entry.range()));
  }

  if (info.command_line != 0) {
    const std::string_view text = TRY(memory.text(PhysicalAddress(info.command_line), BootInfo::command_line_capacity));
    boot_info.command_line.append(text);
  }
  if (info.acpi_root != 0) boot_info.acpi_root = PhysicalAddress(info.acpi_root);

  for (std::uint32_t index = 0; index < info.module_count; ++index) {
    const auto module = TRY(memory.read<Module>(PhysicalAddress(info.modules + index * sizeof(Module))));
    TRY(boot_info.add_module({PhysicalAddress(module.address), module.bytes}));
  }
  return {};
}

}  // namespace ingot::os
