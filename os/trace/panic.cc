#include "os/trace/panic.h"

#include "os/boot/kernel.h"
#include "os/trace/backtrace.h"

namespace ingot::os {

namespace {

void log_place(Kernel& kernel, VirtualAddress address, std::uint64_t back) {
  // A return address may be the first byte of the next function, where a call that never returns ends one.
  if (const std::optional<Symbol> symbol = kernel.symbols.find(address - back)) {
    kernel.log.information("  at ", address, " ", symbol->name, " + ", Hexadecimal{symbol->offset + back});
  } else {
    kernel.log.information("  at ", address);
  }
}

// So that they neither write between the lines nor change what is reported. One that does not obey is not waited for.
void stop_others(Kernel& kernel) {
  kernel.controller().stop_others();
  const std::uint64_t self = std::uint64_t{1} << arch::current_cpu().index;
  for (int tries = 0; tries < 1'000'000; ++tries) {
    if ((kernel.calls.running() & ~kernel.stopped_cpus.load(MemoryOrder::acquire) & ~self) == 0) return;
    arch::pause();
  }
}

}  // namespace

void panic_in(Kernel& kernel, std::string_view message, const arch::TrapFrame* frame) {
  arch::disable_interrupts();
  Log& log = kernel.log;
  std::uint32_t first = Kernel::nobody;
  const std::uint32_t self = arch::current_cpu().index;
  const bool is_first = kernel.panicking_cpu.compare_exchange(first, self, MemoryOrder::acquire_release);
  if (!is_first && first != self) arch::halt_forever();  // another CPU tells its end, which is ours, too
  if (is_first) stop_others(kernel);
  log.enter_panic();
  if (!is_first) {  // the report itself failed: say so with as little as possible
    log.write(LogLevel::panic, "while reporting a panic: ", message);
    kernel.power.stop(Outcome::panic, log);
  }
  kernel.platform.open_panic_sinks(log);

  for (std::size_t end = 0; end != message.npos; message.remove_prefix(end == message.npos ? 0 : end + 2)) {
    end = message.find("; ");  // a line for each part
    log.write(LogLevel::panic, message.substr(0, end));
  }
  const Processor& processor = current_processor();
  log.information("in thread \"", processor.current->name(), "\" on CPU ", processor.index);
  log.information("kernel at ", kernel.platform.kernel_base(), ", physical ", kernel.platform.physical_kernel_base());
  VirtualAddress frame_pointer(reinterpret_cast<std::uint64_t>(__builtin_frame_address(0)));
  if (frame != nullptr) {
    arch::log_registers(log, *frame);
    frame_pointer = arch::frame_pointer_of(*frame);
  }
  log.information("called by:");
  if (frame != nullptr) {
    const VirtualAddress instruction = arch::instruction_of(*frame);
    log_place(kernel, instruction, 0);
    // A jump to where no code is: the caller left its return address and nobody built a frame.
    if (!kernel.symbols.find(instruction)) {
      const auto caller = kernel.platform.read_word(arch::stack_pointer_of(*frame));
      if (caller && kernel.symbols.find(VirtualAddress(*caller))) log_place(kernel, VirtualAddress(*caller), 1);
    }
  }
  walk_frames(
      frame_pointer, [&](VirtualAddress address) { return kernel.platform.read_word(address); },
      [&](VirtualAddress return_address) { log_place(kernel, return_address, 1); });
  log.repeat("the last lines of the log:");
  log.visit_kept([&](std::string_view line) { log.repeat("  | ", line); });
  kernel.power.stop(Outcome::panic, log);
}

void LockReports::lock_violated(const LockViolation& violation) {
  FixedText<400> text;
  text.append_all("locks: ", violation.what);
  const auto tell = [&](std::string_view which, const void* lock, LockRank rank) {
    if (lock == nullptr) return;
    text.append_all(which, name_of(rank), " at ", VirtualAddress(reinterpret_cast<std::uint64_t>(lock)));
  };
  tell("; the lock: ", violation.lock, violation.rank);
  tell("; held: ", violation.held, violation.held_rank);
  if (!violation.may_pass || !forgives_waits) panic(text.view());
  arch::current_cpu().kernel->log.warning(text.view());
}

}  // namespace ingot::os
