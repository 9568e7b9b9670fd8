// The kernel's move to a random place, physical and virtual: what an attacker learns about one boot tells nothing about
// the next. Runs where the loader put the kernel, before anything holds an address.
#include <utility>

#include "os/arch/x86_64/cpu.h"
#include "os/arch/x86_64/image_layout.h"
#include "os/arch/x86_64/page_table_format.h"
#include "os/arch/x86_64/platform.h"
#include "os/boot/cast_image.h"
#include "os/boot/command_line.h"
#include "os/boot/kernel_place.h"
#include "os/boot/multiboot2.h"
#include "os/boot/pvh.h"
#include "os/boot/uefi_handover.h"

// Words that hold an address of the image, by their offset from its base (os/images/list_relocations.py). The highest
// bit says that the address is physical. Both kinds fit in 32 bits, so a 64-bit address needs no more than its low
// half.
extern "C" const std::uint32_t ingot_relocations_begin[], ingot_relocations_end[];
extern "C" const char ingot_begin[];

namespace ingot::os::arch {

namespace {

using Format = x86_64::PageTableFormat;

constexpr VirtualAddress linked_base{0xffffffff80000000};
// The kernel moves into the last GiB, so that the place it leaves stays mapped until it has left. All but the last
// 2 MiB of it: an end of the address space that is also an end of the kernel would be address 0.
constexpr VirtualAddress moved_bases{0xffffffffc0000000};
constexpr std::uint64_t moved_base_count = 511;
// The window moves by whole entries of the root table; from the 384th on others have their areas.
constexpr std::uint64_t first_window_slot = 256;

// What the loader said, read before the move, which may overwrite where it stood. It moves along.
constinit BootInfo told_by_loader{};

Result<void> read_loader(EntryArguments arguments, BootInfo& boot_info) {
  const LoaderMemory memory({reinterpret_cast<const std::byte*>(window_base().value()), giant_page_bytes});
  const auto read = arguments.protocol == LoaderProtocol::multiboot2 ? read_multiboot2_information
                    : arguments.protocol == LoaderProtocol::uefi     ? read_uefi_handover
                                                                     : read_pvh_start_info;
  TRY(read(memory, arguments.information, boot_info));
  // Frame 0 holds the firmware's data, and an address of 0 should stay an error.
  TRY(boot_info.memory.add({PhysicalAddress(0), page_bytes, MemoryKind::reserved}));
  TRY(add_cast_image(ingot_image_table, boot_info));
  boot_info.loader = arguments.protocol;
  return {};
}

// A CPU without random numbers gives what differs from boot to boot.
std::uint64_t gather_entropy() {
  std::uint64_t gathered = cycle_count() * 0x9e3779b97f4a7c15u;
  gathered ^= gathered >> 32;
  return gathered ^ random_word().value_or(0);
}

void relocate(VirtualAddress new_base, std::uint64_t distance) {
  const auto slide = static_cast<std::uint32_t>(new_base - linked_base);
  for (const std::uint32_t* entry = ingot_relocations_begin; entry != ingot_relocations_end; ++entry) {
    constexpr std::uint32_t is_physical = 1u << 31;
    auto* place = reinterpret_cast<std::byte*>((new_base + (*entry & ~is_physical)).value());
    std::uint32_t address = 0;
    __builtin_memcpy(&address, place, sizeof address);
    address += (*entry & is_physical) != 0 ? static_cast<std::uint32_t>(distance) : slide;
    __builtin_memcpy(place, &address, sizeof address);
  }
}

// Copies the image, its data as it is now, and leads the page table in the copy to the copy and to the window's new
// place.
void copy_image(VirtualAddress new_base, std::uint64_t distance, std::uint64_t window_slot) {
  const std::uint64_t slot = (new_base - moved_bases) / large_page_bytes;
  constexpr PageAttributes all_access{Access::read | Access::write | Access::execute};
  ingot_kernel_directory[slot] = Format::page(1, PhysicalAddress(distance), all_access);
  ingot_kernel_tables[511] = Format::table(physical_address_of(ingot_kernel_directory));
  const auto place_of = [&](const void* object) {
    return reinterpret_cast<void*>((new_base + (address_of(object) - linked_base)).value());
  };
  __builtin_memcpy(place_of(ingot_text_begin), ingot_text_begin, image_range().bytes);
  for (const Format::Entry* entry : {&ingot_root_table[0], &ingot_root_table[256], &ingot_root_table[511],
                                     &ingot_low_tables[0], &ingot_kernel_tables[510], &ingot_kernel_tables[511]}) {
    *static_cast<Format::Entry*>(place_of(entry)) += distance;
  }
  auto* root = static_cast<Format::Entry*>(place_of(ingot_root_table));
  root[window_slot] = std::exchange(root[first_window_slot], 0);
  *static_cast<std::uint64_t*>(place_of(&ingot_window_base)) += (window_slot - first_window_slot) << 39;
}

}  // namespace

void move_kernel(EntryArguments arguments) {
  if (kernel_base() != linked_base) return;
  if (!read_loader(arguments, told_by_loader).ok()) {
    told_by_loader.loader = LoaderProtocol::none;  // read_boot_info will fail alike, when there is a log to say so
    return;
  }
  if (command_line_option(told_by_loader.command_line.view(), "no-aslr")) return;
  const auto distance =
      choose_kernel_distance(told_by_loader.memory, image_range(), gather_entropy() ^ told_by_loader.entropy);
  if (!distance) return;
  const VirtualAddress new_base = moved_bases + gather_entropy() % moved_base_count * large_page_bytes;
  copy_image(new_base, *distance, first_window_slot + choose_window_slot(told_by_loader.memory, gather_entropy()));
  relocate(new_base, *distance);
  load_page_table(physical_address_of(ingot_root_table) + *distance);
  using Begin = void(LoaderProtocol, std::uint64_t);
  const VirtualAddress begin = new_base + (address_of(ingot_begin) - linked_base);
  reinterpret_cast<Begin*>(begin.value())(arguments.protocol, arguments.information.value());
}

Result<void> Platform::read_boot_info(EntryArguments arguments, BootInfo& boot_info) {
  if (told_by_loader.loader == LoaderProtocol::none) {
    TRY(read_loader(arguments, boot_info));
  } else {
    boot_info = told_by_loader;
  }
  const PhysicalRange image = image_range();
  TRY(boot_info.memory.add({image.begin, image.bytes, MemoryKind::kernel}));
  boot_info.entropy ^= gather_entropy();
  return {};
}

}  // namespace ingot::os::arch
