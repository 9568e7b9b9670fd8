// From trap_entry.S to whoever claimed the vector; an exception that nobody claimed is the end.
#include <array>
#include <string_view>
#include <utility>

#include "os/arch/arch.h"
#include "os/boot/kernel.h"
#include "os/trace/panic.h"

namespace ingot::os::arch {

namespace {

using PanicText = FixedText<160>;

constexpr std::array<std::string_view, 22> exception_names = {
    "divide error",
    "debug trap",
    "non-maskable interrupt",
    "breakpoint",
    "overflow",
    "bound range exceeded",
    "invalid opcode",
    "device not available",
    "double fault",
    "coprocessor segment overrun",
    "invalid task state",
    "segment not present",
    "stack segment fault",
    "general protection fault",
    "page fault",
    "reserved exception",
    "floating-point error",
    "alignment check",
    "machine check",
    "vector floating-point error",
    "virtualization fault",
    "control protection fault",
};

// Bits of a page fault's error code (SDM volume 3, 4.7).
constexpr std::uint64_t present_bit = 1, write_bit = 2, user_bit = 4, reserved_bit = 8, fetch_bit = 16;

void describe_page_fault(const TrapFrame& frame, PanicText& text) {
  const VirtualAddress address = fault_address();
  const std::uint64_t code = frame.error_code;
  text.append((code & fetch_bit) != 0 ? "execution of " : (code & write_bit) != 0 ? "write to " : "read of ");
  text.append_all(address, ", expected ");
  if ((code & present_bit) == 0) {
    text.append(address.value() < page_bytes ? "an object, found a null pointer" : "a mapped page, found none");
  } else if ((code & reserved_bit) != 0) {
    text.append("a valid page table, found reserved bits set");
  } else if ((code & fetch_bit) != 0) {
    text.append("executable memory, found data");
  } else if ((code & write_bit) != 0) {
    text.append("writable memory, found a read-only page");
  } else {
    text.append("kernel memory, found a page of ring 3");
  }
}

// A fault that could not be delivered because its frame had no room: the stack pointer stands at the faulting address.
bool is_stack_overflow(const TrapFrame& frame) {
  const std::uint64_t address = fault_address().value();
  return address - (frame.rsp - page_bytes) < 2 * page_bytes;
}

// An interrupt comes between any two steps of a thread: its handler's locks are not ordered after the thread's. An
// exception is a step of the thread, as a call would be.
class HandlersLocks {
 public:
  explicit HandlersLocks(bool interrupt) : cpu_(interrupt ? &current_cpu() : nullptr) { exchange(); }
  ~HandlersLocks() {
    if (cpu_ != nullptr && cpu_->lock_checker != nullptr) {
      cpu_->lock_checker->expect_none("expected no lock held by a handler that returns, found one");
    }
    exchange();
  }

 private:
  void exchange() {
    if (cpu_ != nullptr) std::swap(cpu_->lock_checker, cpu_->other_lock_checker);
  }
  CpuHeader* cpu_;
};

[[noreturn]] void report_exception(Kernel& kernel, const TrapFrame& frame) {
  PanicText text;
  text.append(frame.vector < exception_names.size() ? exception_names[frame.vector] : "reserved exception");
  text.append(": ");
  if (frame.vector == exception::page_fault) {
    describe_page_fault(frame, text);
  } else if (frame.vector == exception::double_fault && is_stack_overflow(frame)) {
    text.append_all("stack overflow, the guard page was hit at ", fault_address());
  } else {
    text.append_all("error code ", Hexadecimal{frame.error_code});
  }
  panic_in(kernel, text.view(), &frame);
}

}  // namespace

extern "C" void ingot_trap(TrapFrame& frame) {
  Kernel& kernel = *current_cpu().kernel;
  const bool is_interrupt = frame.vector >= exception::count;
  const HandlersLocks record(is_interrupt);
  if (is_interrupt && kernel.controller().is_spurious(frame.vector)) return;
  const bool handled = kernel.interrupts.dispatch(frame);
  if (!handled && !is_interrupt) report_exception(kernel, frame);
  if (!handled) kernel.log.warning("interrupt: expected a claimed vector, found ", frame.vector);
  if (is_interrupt) kernel.controller().end_of_interrupt(frame.vector);
}

}  // namespace ingot::os::arch
