// Platform: the PC as the kernel's start, panic and end see it.
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "os/arch/arch.h"
#include "os/arch/x86_64/descriptor_tables.h"
#include "os/boot/boot_info.h"
#include "os/device/debug_ports.h"
#include "os/memory/page_attributes.h"
#include "os/memory/physical_window.h"
#include "os/trace/log.h"

namespace ingot::os {
struct Processor;  // os/schedule/scheduler.h
}

namespace ingot::os::arch {

// What entry.S found in registers.
struct EntryArguments {
  LoaderProtocol protocol;
  PhysicalAddress information;
};

// To a random place in memory and in the address space, where ingot_start begins anew: then this does not return. It
// does in the moved kernel, where `no-aslr` forbids the move, and where there is no room.
void move_kernel(EntryArguments arguments);

class Platform {
 public:
  // Per-CPU data, segments, gates and protection bits of the CPU that booted: from here on a fault is reported.
  void adopt_boot_cpu(Kernel& kernel);
  // The part of it that every CPU does first. Precondition: the processor's interrupt stacks are set.
  void adopt_cpu(Kernel& kernel, Processor& processor);
  // For the others: where their first instructions stand, in `start_bytes` below 1 MiB; what the next one finds there;
  // and how it leaves that place for the kernel's own page table.
  static constexpr std::uint64_t start_bytes = 4 * page_bytes;
  void prepare_start(PhysicalAddress pages);
  void set_start(PhysicalAddress pages, VirtualAddress stack, void (*entry)(void*), void* argument);
  Result<void> allocate_interrupt_stacks(KernelMemory& memory, Processor& processor);
  void adopt_other_cpu(Kernel& kernel, Processor& processor);
  // Before anything is known about the machine: the emulators' debug port, where there is one.
  void open_log(Log& log);
  // What the loader left, as move_kernel read it, and what the kernel itself occupies.
  Result<void> read_boot_info(EntryArguments arguments, BootInfo& boot_info);
  // `serial`: the log goes to COM1 as well.
  void apply_options(std::string_view command_line, Log& log);
  // The final page table: the kernel's sections with their own rights, all memory in the window, nothing else.
  Result<void> map_kernel(BootInfo& boot_info);
  // cycle_count at the kernel's first instruction.
  std::uint64_t entry_cycles() const;

  PhysicalWindow window() const;
  PageSize largest_page() const;
  // The names that the image carries.
  std::span<const std::byte> symbol_table() const;
  // Where the image lies: the 2 MiB page that holds it.
  VirtualAddress kernel_base() const;
  PhysicalAddress physical_kernel_base() const;

  void open_panic_sinks(Log& log);
  // A word of mapped memory, or nothing: never faults.
  std::optional<std::uint64_t> read_word(VirtualAddress address) const;

 private:
  DebugPort debug_port_;
  SerialPort serial_port_;
  bool serial_open_ = false;
  GateTable gates_;
  PhysicalAddress window_end_{giant_page_bytes};  // what entry.S maps
};

void log_registers(Log& log, const TrapFrame& frame);

}  // namespace ingot::os::arch
