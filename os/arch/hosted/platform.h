// The platform of an ordinary process: there to be compiled against. Nothing boots here.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/result.h"
#include "os/arch/arch.h"
#include "os/boot/boot_info.h"
#include "os/memory/page_attributes.h"
#include "os/memory/physical_window.h"
#include "os/trace/log.h"

namespace ingot::os {
class KernelMemory;  // os/memory/kernel_memory.h
struct Processor;    // os/schedule/scheduler.h
}  // namespace ingot::os

namespace ingot::os::arch {

struct EntryArguments {
  LoaderProtocol protocol;
  PhysicalAddress information;
};
inline void move_kernel(EntryArguments) {}

class Platform {
 public:
  void adopt_boot_cpu(Kernel& kernel) { current_cpu().kernel = &kernel; }
  static constexpr std::uint64_t start_bytes = 4 * page_bytes;
  void prepare_start(PhysicalAddress) {}
  void set_start(PhysicalAddress, VirtualAddress, void (*)(void*), void*) {}
  Result<void> allocate_interrupt_stacks(KernelMemory&, Processor&) { return {}; }
  void adopt_other_cpu(Kernel&, Processor&) {}
  void open_log(Log&) {}
  Result<void> read_boot_info(EntryArguments, BootInfo&) { return {}; }
  void apply_options(std::string_view, Log&) {}
  Result<void> map_kernel(BootInfo&) { return {}; }
  std::uint64_t entry_cycles() const { return 0; }
  PhysicalWindow window() const { return {nullptr, PhysicalAddress(0), 0}; }
  PageSize largest_page() const { return PageSize::giant; }
  std::span<const std::byte> symbol_table() const { return {}; }
  VirtualAddress kernel_base() const { return VirtualAddress(0); }
  PhysicalAddress physical_kernel_base() const { return PhysicalAddress(0); }
  void open_panic_sinks(Log&) {}
  std::optional<std::uint64_t> read_word(VirtualAddress) const { return {}; }
};

inline void log_registers(Log&, const TrapFrame&) {}

}  // namespace ingot::os::arch
