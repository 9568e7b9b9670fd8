#include "os/boot/multiboot2.h"

namespace ingot::os {

namespace {

// Layouts as in the multiboot2 specification, 3.6.
struct Information {
  std::uint32_t bytes;
  std::uint32_t reserved;
};
struct Tag {
  std::uint32_t type;
  std::uint32_t bytes;  // with this header, without the padding to the next multiple of 8
};
struct ModuleTag {
  std::uint32_t begin, end;  // then its command line
};
struct MemoryMapTag {
  std::uint32_t entry_bytes;
  std::uint32_t entry_version;
};
struct FramebufferTag {
  std::uint64_t address;
  std::uint32_t pitch, width, height;
  std::uint8_t bits_per_pixel;
  std::uint8_t kind;  // 1: pixels hold colours; 2: letters
  std::uint16_t reserved;
};
static_assert(sizeof(FramebufferTag) == 24);

enum TagType : std::uint32_t {
  end_of_tags = 0,
  command_line = 1,
  module_range = 3,
  memory_map = 6,
  framebuffer = 8,
  acpi_1_root = 14,
  acpi_2_root = 15,
};

Result<void> read_memory_map(const LoaderMemory& memory, PhysicalAddress body, std::uint64_t bytes,
                             BootInfo& boot_info) {
  const auto header = TRY(memory.read<MemoryMapTag>(body));
  if (header.entry_bytes < sizeof(E820Entry)) {
    return Error::of(ErrorCode::corrupt, "expected memory map entries of at least ", sizeof(E820Entry),
                     " bytes, found ", header.entry_bytes);
  }
  for (std::uint64_t at = sizeof header; at + sizeof(E820Entry) <= bytes; at += header.entry_bytes) {
    const auto entry = TRY(memory.read<E820Entry>(body + at));
    TRY(boot_info.memory.add(entry.range()));
  }
  return {};
}

Result<void> read_module(const LoaderMemory& memory, PhysicalAddress body, BootInfo& boot_info) {
  const auto found = TRY(memory.read<ModuleTag>(body));
  if (found.end < found.begin) {
    return Error::of(ErrorCode::corrupt, "expected a module that ends behind its begin, found ",
                     PhysicalAddress(found.begin), " - ", PhysicalAddress(found.end));
  }
  return boot_info.add_module({PhysicalAddress(found.begin), found.end - found.begin});
}

Result<void> read_framebuffer(const LoaderMemory& memory, PhysicalAddress body, BootInfo& boot_info) {
  const auto found = TRY(memory.read<FramebufferTag>(body));
  constexpr std::uint8_t direct_colour = 1;
  if (found.kind != direct_colour) return {};
  boot_info.framebuffer =
      Framebuffer{PhysicalAddress(found.address), found.width, found.height, found.pitch, found.bits_per_pixel};
  return {};
}

Result<void> read_tag(const LoaderMemory& memory, Tag tag, PhysicalAddress body, BootInfo& boot_info) {
  const std::uint64_t bytes = tag.bytes - sizeof(Tag);
  switch (tag.type) {
    case command_line: {
      const std::uint64_t limit = bytes < BootInfo::command_line_capacity ? bytes : BootInfo::command_line_capacity;
      boot_info.command_line.append(TRY(memory.text(body, limit)));
      return {};
    }
    case memory_map: return read_memory_map(memory, body, bytes, boot_info);
    case module_range: return read_module(memory, body, boot_info);
    case framebuffer: return read_framebuffer(memory, body, boot_info);
    case acpi_1_root:
      if (!boot_info.acpi_root) boot_info.acpi_root = body;
      return {};
    case acpi_2_root: boot_info.acpi_root = body; return {};  // knows more than the first
    default: return {};
  }
}

}  // namespace

Result<void> read_multiboot2_information(const LoaderMemory& memory, PhysicalAddress information, BootInfo& boot_info) {
  const auto header = TRY(memory.read<Information>(information));
  TRY(memory.bytes(information, header.bytes));
  for (std::uint64_t at = sizeof header;;) {
    if (at + sizeof(Tag) > header.bytes) {
      return Error::of(ErrorCode::corrupt, "expected a last tag within ", header.bytes, " bytes, found none");
    }
    const auto tag = TRY(memory.read<Tag>(information + at));
    if (tag.bytes < sizeof(Tag) || tag.bytes > header.bytes - at) {
      return Error::of(ErrorCode::corrupt, "expected a tag of 8 to ", header.bytes - at, " bytes, found ", tag.bytes,
                       " in tag ", tag.type);
    }
    if (tag.type == end_of_tags) break;
    TRY(read_tag(memory, tag, information + at + sizeof(Tag), boot_info));
    at += round_up(tag.bytes, 8);
  }
  // The ACPI root is a copy inside these tags: they must outlive the reading of the tables, like the tables themselves.
  if (!boot_info.acpi_root) return {};
  return boot_info.memory.add({information, header.bytes, MemoryKind::acpi_reclaimable});
}

}  // namespace ingot::os
