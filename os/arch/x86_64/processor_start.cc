// The page at which other CPUs begin, and the page table by which they reach the kernel.
#include "os/arch/x86_64/cpu.h"
#include "os/arch/x86_64/image_layout.h"
#include "os/arch/x86_64/page_table_format.h"
#include "os/arch/x86_64/platform.h"
#include "os/boot/kernel.h"

namespace ingot::os::arch {

namespace {

// What stands at ingot_start_data of processor_start.S.
struct [[gnu::packed]] StartData {
  std::uint64_t stack, entry, argument;
  std::uint32_t root_table;
  std::uint32_t far_offset;
  std::uint16_t far_segment;
  std::uint16_t descriptors_limit;
  std::uint32_t descriptors_address;
};

extern "C" const std::byte ingot_processor_start[], ingot_processor_start_end[], ingot_start_data[];

}  // namespace

// Paging begins while a CPU runs at a low address, so a table shows the lowest 2 MiB where they are. Executable, not
// writable, and in no other table: it is left as soon as the CPU runs in the kernel.
void Platform::prepare_start(PhysicalAddress pages) {
  using Format = x86_64::PageTableFormat;
  const auto table = [&](std::uint64_t index) { return window().at<Format::Entry>(pages + (index + 1) * page_bytes); };
  Format::Entry *root = table(0), *giants = table(1), *directory = table(2);
  window().clear(pages, start_bytes);
  __builtin_memcpy(root, ingot_root_table, page_bytes);
  root[0] = Format::table(window().physical(giants));
  giants[0] = Format::table(window().physical(directory));
  directory[0] = Format::page(1, PhysicalAddress(0), {Access::read | Access::execute});

  auto* page = window().at<std::byte>(pages);
  __builtin_memcpy(page, ingot_processor_start, ingot_processor_start_end - ingot_processor_start);
  auto& data = *reinterpret_cast<StartData*>(page + (ingot_start_data - ingot_processor_start));
  data.root_table = static_cast<std::uint32_t>(window().physical(root).value());
  data.far_offset += static_cast<std::uint32_t>(pages.value());
  data.descriptors_address += static_cast<std::uint32_t>(pages.value());
}

void Platform::set_start(PhysicalAddress pages, VirtualAddress stack, void (*entry)(void*), void* argument) {
  auto* page = window().at<std::byte>(pages);
  auto& data = *reinterpret_cast<StartData*>(page + (ingot_start_data - ingot_processor_start));
  data.stack = stack.value();
  data.entry = reinterpret_cast<std::uint64_t>(entry);
  data.argument = reinterpret_cast<std::uint64_t>(argument);
}

Result<void> Platform::allocate_interrupt_stacks(KernelMemory& memory, Processor& processor) {
  KernelStack* stack = processor.part.interrupt_stacks;
  for (const auto which : {InterruptStack::double_fault, InterruptStack::non_maskable, InterruptStack::machine_check}) {
    *stack = TRY(memory.allocate_stack(2 * page_bytes));
    processor.part.segments.set_interrupt_stack(which, (stack++)->top());
  }
  return {};
}

void Platform::adopt_other_cpu(Kernel& kernel, Processor& processor) {
  load_page_table(physical_address_of(ingot_root_table));
  write_control_register_4(read_control_register_4() | global_pages);
  adopt_cpu(kernel, processor);
}

}  // namespace ingot::os::arch
