// The page table that the kernel keeps. entry.S mapped the first GiB, everything allowed; here the kernel's sections
// get their own rights, the window grows to all memory and loses execution, and the low half of the address space ends.
#include "os/arch/x86_64/cpu.h"
#include "os/arch/x86_64/image_layout.h"
#include "os/arch/x86_64/page_table_format.h"
#include "os/arch/x86_64/platform.h"
#include "os/boot/kernel_place.h"
#include "os/memory/early_memory.h"

namespace ingot::os::arch {

namespace {

using Format = x86_64::PageTableFormat;
using Table = Format::Entry[512];
enum Level : unsigned { small_pages, directory, giants };

// Of the kernel's 2 MiB: how its code sees it, and how the window shows it.
alignas(page_bytes) constinit Table kernel_pages{}, window_pages{};

constexpr Access read_write = Access::read | Access::write;

// No memory is both writable and executable, nor reachable so by another address: the window shows text read-only.
Access access_of(VirtualAddress page) {
  const auto below = [page](const std::byte* end) { return page < address_of(end); };
  if (below(ingot_text_begin)) return read_write;
  if (below(ingot_text_end)) return Access::read | Access::execute;
  if (below(ingot_rodata_end)) return Access::read;
  if (below(ingot_data_end)) return read_write;
  return below(ingot_kernel_end) ? Access::read : read_write;
}

void map_image() {
  for (std::uint64_t index = 0; index < 512; ++index) {
    const VirtualAddress page = kernel_base() + index * page_bytes;
    const PhysicalAddress frame = physical_kernel_base() + index * page_bytes;
    const Access access = access_of(page);
    if (page >= address_of(ingot_text_begin) && page < address_of(ingot_kernel_end)) {
      kernel_pages[index] = Format::page(small_pages, frame, {access});
    }
    window_pages[index] = Format::page(small_pages, frame, {access & read_write});
  }
  for (const VirtualAddress guard :
       {ingot_boot_stacks.main.guard_page(), ingot_boot_stacks.double_fault.guard_page(),
        ingot_boot_stacks.non_maskable.guard_page(), ingot_boot_stacks.machine_check.guard_page()}) {
    kernel_pages[(guard - kernel_base()) / page_bytes] = 0;
  }
  const auto index_of = [](std::uint64_t page) { return kernel_base().value() / page & 511; };
  ingot_kernel_directory[index_of(large_page_bytes)] = Format::table(physical_address_of(kernel_pages));
  const Format::Entry entry = Format::table(physical_address_of(ingot_kernel_directory));
  // One store each, for this code runs in one of the two; in the other it may have run before it moved.
  for (const std::uint64_t gib : {510, 511}) ingot_kernel_tables[gib] = gib == index_of(giant_page_bytes) ? entry : 0;
}

enum class Coverage { none, some, all };

// How much of a range is memory rather than devices or holes.
Coverage memory_in(const MemoryMap& map, std::uint64_t begin, std::uint64_t bytes) {
  std::uint64_t covered = 0;
  for (const MemoryRange& range : map.ranges()) {
    if (range.kind == MemoryKind::reserved || range.kind == MemoryKind::bad) continue;
    const std::uint64_t first = range.begin.value() > begin ? range.begin.value() : begin;
    const std::uint64_t end = range.end().value() < begin + bytes ? range.end().value() : begin + bytes;
    if (first < end) covered += end - first;
  }
  return covered == 0 ? Coverage::none : covered == bytes ? Coverage::all : Coverage::some;
}

void fill_directory(Table& table, const MemoryMap& map, std::uint64_t begin) {
  for (std::uint64_t index = 0; index < 512; ++index) {
    const std::uint64_t page = begin + index * large_page_bytes;
    const bool is_memory = memory_in(map, page, large_page_bytes) != Coverage::none;
    table[index] = is_memory ? Format::page(directory, PhysicalAddress(page), {read_write}) : 0;
  }
  if (const std::uint64_t image = physical_kernel_base().value() - begin; image < giant_page_bytes) {
    table[image / large_page_bytes] = Format::table(physical_address_of(window_pages));
  }
}

bool has_giant_pages() { return (cpuid(0x80000001).edx & 1u << 26) != 0; }

// The entry for the window's GiB from `begin` on. Its table came with the image for the first 512 GiB; others are made.
Result<Format::Entry*> window_entry(MemoryMap& map, std::uint64_t begin) {
  if (begin < window_slot_bytes) return &ingot_low_tables[begin / giant_page_bytes];
  Format::Entry& slot = ingot_root_table[(window_base().value() + begin) / window_slot_bytes & 511];
  if (slot == 0) {
    const PhysicalAddress table = TRY(take_early_memory(map, page_bytes, PhysicalAddress(giant_page_bytes)));
    __builtin_memset(reinterpret_cast<void*>((window_base() + table.value()).value()), 0, page_bytes);
    slot = Format::table(table);
  }
  auto* table = reinterpret_cast<Format::Entry*>((window_base() + Format::table_of(slot).value()).value());
  return &table[begin / giant_page_bytes & 511];
}

// The window's GiB from `begin` on. A page that is memory in part is mapped whole: the loader's ACPI tables often stand
// in the reserved rest.
Result<void> map_window_gib(MemoryMap& map, std::uint64_t begin) {
  const Coverage coverage = memory_in(map, begin, giant_page_bytes);
  if (coverage == Coverage::none) return {};
  Format::Entry& slot = *TRY(window_entry(map, begin));
  const bool holds_image = physical_kernel_base().rounded_down(giant_page_bytes).value() == begin;
  if (coverage == Coverage::all && !holds_image && has_giant_pages()) {
    slot = Format::page(giants, PhysicalAddress(begin), {read_write});
    return {};
  }
  const PhysicalAddress frame = TRY(take_early_memory(map, page_bytes, PhysicalAddress(giant_page_bytes)));
  fill_directory(*reinterpret_cast<Table*>((window_base() + frame.value()).value()), map, begin);
  slot = Format::table(frame);
  return {};
}

}  // namespace

Result<void> Platform::map_kernel(BootInfo& boot_info) {
  // What is beyond the window's last entry of the root table is named by main.cc, and not used.
  const std::uint64_t first_slot = window_base().value() / window_slot_bytes & 255;
  const PhysicalAddress limit((window_slot_count - first_slot) * window_slot_bytes);
  PhysicalAddress end = boot_info.memory.end_of_memory().rounded_up(large_page_bytes);
  if (end > limit) end = limit;
  for (std::uint64_t begin = giant_page_bytes; begin < end.value(); begin += giant_page_bytes) {
    TRY(map_window_gib(boot_info.memory, begin));
  }
  map_image();  // first: until then the kernel runs by the directory that is about to lose execution
  fill_directory(ingot_low_directory, boot_info.memory, 0);
  ingot_root_table[0] = 0;
  load_page_table(physical_address_of(ingot_root_table));
  write_control_register_4(read_control_register_4() | global_pages);
  window_end_ = end;
  return {};
}

PageSize Platform::largest_page() const { return has_giant_pages() ? PageSize::giant : PageSize::large; }

PhysicalWindow Platform::window() const {
  return {reinterpret_cast<void*>(window_base().value()), PhysicalAddress(0), window_end_.value()};
}

std::optional<std::uint64_t> Platform::read_word(VirtualAddress address) const {
  const PhysicalWindow memory = window();
  if (!Format::canonical(address) || !address.aligned(8)) return {};
  PhysicalAddress table = loaded_page_table();
  for (unsigned level = Format::levels - 1;; --level) {
    const PhysicalAddress place = table + (address.value() >> (page_bits + 9 * level) & 511) * sizeof(Format::Entry);
    if (!memory.contains(place)) return {};
    const Format::Entry entry = *memory.at<Format::Entry>(place);
    if ((entry & Format::present) == 0) return {};
    if (Format::is_page(level, entry)) return *reinterpret_cast<const std::uint64_t*>(address.value());
    table = Format::table_of(entry);
  }
}

}  // namespace ingot::os::arch
