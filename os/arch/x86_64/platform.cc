#include "os/arch/x86_64/platform.h"

#include "os/arch/x86_64/cpu.h"
#include "os/arch/x86_64/image_layout.h"
#include "os/arch/x86_64/page_table_format.h"
#include "os/arch/x86_64/user_isolation.h"
#include "os/boot/command_line.h"
#include "os/boot/kernel.h"
#include "os/device/machine_check.h"

namespace ingot::os::arch {

// In its own pages, so that each guard is one.
extern "C" {
constinit BootStacks ingot_boot_stacks{};
}
static_assert(offsetof(BootStacks, main) == 0 && sizeof(BootStacks::main) == 7 * page_bytes, "entry.S relies on it");

void Platform::adopt_boot_cpu(Kernel& kernel) {
  SegmentTable& segments = kernel.boot_processor.part.segments;
  segments.set_interrupt_stack(InterruptStack::double_fault, ingot_boot_stacks.double_fault.top());
  segments.set_interrupt_stack(InterruptStack::non_maskable, ingot_boot_stacks.non_maskable.top());
  segments.set_interrupt_stack(InterruptStack::machine_check, ingot_boot_stacks.machine_check.top());
  gates_.fill();
  adopt_cpu(kernel, kernel.boot_processor);
}

void Platform::adopt_cpu(Kernel& kernel, Processor& processor) {
  processor.kernel = &kernel;
  processor.tracepoints = &kernel.tracepoints;
  set_current_cpu(processor);
  processor.part.segments.load();
  gates_.load();
  clear_machine_checks();
  enable_isolation();
  enable_vector_registers();
  enable_system_calls();
  constexpr std::uint32_t page_attribute_register = 0x277;
  write_model_register(page_attribute_register, x86_64::page_attribute_table);
}

void Platform::open_log(Log& log) {
  if (DebugPort::present()) log.add_sink(debug_port_, LogLevel::debug);
}

void Platform::apply_options(std::string_view command_line, Log& log) {
  if (command_line_option(command_line, "serial").has_value()) open_panic_sinks(log);
}

std::span<const std::byte> Platform::symbol_table() const { return {ingot_symbols_begin, ingot_symbols_end}; }
VirtualAddress Platform::kernel_base() const { return arch::kernel_base(); }
PhysicalAddress Platform::physical_kernel_base() const { return arch::physical_kernel_base(); }
std::uint64_t Platform::entry_cycles() const { return ingot_entry_cycles; }

void Platform::open_panic_sinks(Log& log) {
  if (serial_open_) return;
  serial_open_ = true;
  SerialPort::initialise();
  log.add_sink(serial_port_, LogLevel::debug);
}

void log_registers(Log& log, const TrapFrame& frame) {
  using Word = HexadecimalWord;
  log.information("rip ", Word{frame.rip}, "  rsp ", Word{frame.rsp}, "  rfl ", Word{frame.rflags});
  log.information("rax ", Word{frame.rax}, "  rbx ", Word{frame.rbx}, "  rcx ", Word{frame.rcx});
  log.information("rdx ", Word{frame.rdx}, "  rsi ", Word{frame.rsi}, "  rdi ", Word{frame.rdi});
  log.information("rbp ", Word{frame.rbp}, "  r8  ", Word{frame.r8}, "  r9  ", Word{frame.r9});
  log.information("r10 ", Word{frame.r10}, "  r11 ", Word{frame.r11}, "  r12 ", Word{frame.r12});
  log.information("r13 ", Word{frame.r13}, "  r14 ", Word{frame.r14}, "  r15 ", Word{frame.r15});
  log.information("cr2 ", Word{fault_address().value()}, "  cr3 ", Word{loaded_page_table().value()}, "  err ",
                  Word{frame.error_code});
}

}  // namespace ingot::os::arch
