// From trap_entry.S to whoever claimed the vector; an exception that nobody claimed is the end.
#include <array>
#include <string_view>
#include <utility>

#include "os/arch/arch.h"
#include "os/arch/x86_64/signal_fault.h"
#include "os/boot/kernel.h"
#include "os/device/machine_check.h"
#include "os/memory/page_fault.h"
#include "os/memory/user_memory.h"
#include "os/process/process.h"
#include "os/syscall/dispatch.h"
#include "os/trace/panic.h"

namespace ingot::os::arch {

namespace {

using PanicText = FixedText<160>;

// clang-format off: a list to look vectors up in
constexpr std::array<std::string_view, 22> exception_names = {
    "divide error", "debug trap", "non-maskable interrupt", "breakpoint", "overflow", "bound range exceeded",
    "invalid opcode", "device not available", "double fault", "coprocessor segment overrun", "invalid task state",
    "segment not present", "stack segment fault", "general protection fault", "page fault", "reserved exception",
    "floating-point error", "alignment check", "machine check", "vector floating-point error", "virtualization fault",
    "control protection fault",
};
// clang-format on

extern "C" const std::byte ingot_user_words[], ingot_user_words_failed[], ingot_user_bytes[], ingot_user_bytes_failed[];

// Where a copy goes on that cannot have the page it faulted for. nullptr: no copy faults there.
const std::byte* end_of_copy(std::uint64_t place) {
  if (place == reinterpret_cast<std::uint64_t>(ingot_user_words)) return ingot_user_words_failed;
  return place == reinterpret_cast<std::uint64_t>(ingot_user_bytes) ? ingot_user_bytes_failed : nullptr;
}

PageFault page_fault_of(const TrapFrame& frame) {
  // Bits of a page fault's error code (SDM volume 3, 4.7).
  constexpr std::uint64_t present = 1, write = 2, reserved = 8, fetch = 16;
  const std::uint64_t code = frame.error_code;
  return {fault_address(),
          (code & fetch) != 0   ? Access::execute
          : (code & write) != 0 ? Access::write
                                : Access::read,
          (code & present) == 0    ? PageFault::Cause::no_page
          : (code & reserved) != 0 ? PageFault::Cause::broken_table
                                   : PageFault::Cause::no_right};
}

// A program's page that was not there yet, or not its own yet. The kernel itself may only meet one while it copies;
// where the page cannot be had, the copy ends.
bool answer_page_fault(Kernel& kernel, TrapFrame& frame) {
  const PageFault fault = page_fault_of(frame);
  AddressSpace* space = current_thread().address_space;
  const std::byte* const behind_copy = end_of_copy(frame.rip);
  const bool by_program = (frame.cs & 3) != 0;
  if (space == nullptr || fault.address >= user_memory_end || (behind_copy == nullptr && !by_program)) return false;
  if (fault.cause == PageFault::Cause::broken_table) return false;
  constexpr std::uint64_t interrupt_flag = 1u << 9;
  if ((frame.rflags & interrupt_flag) != 0) enable_interrupts();  // it may take long, and sleep
  const Result<FaultWork> answer = space->fault(fault.address, fault.access);
  disable_interrupts();
  if (answer.ok()) return true;
  const bool out_of_memory = answer.error().code() == ErrorCode::out_of_memory;
  if (out_of_memory) end_without_memory(kernel, current_thread().user_thread, answer.error());
  if (behind_copy != nullptr) {
    frame.rip = reinterpret_cast<std::uint64_t>(behind_copy);
  } else if (!out_of_memory) {
    signal_page_fault(frame, fault, answer.error());
  }
  return true;
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
  ProcessorHeader* cpu_;
};

// A CPU that panics stops the others by the interrupt that none can mask.
void stop_if_told(Kernel& kernel) {
  const std::uint32_t panicking = kernel.panicking_cpu.load(MemoryOrder::acquire);
  if (panicking == Kernel::nobody || panicking == current_cpu().index) return;
  kernel.stopped_cpus.fetch_or(std::uint64_t{1} << current_cpu().index, MemoryOrder::release);
  halt_forever();
}

// It may come to all CPUs at once: one whose banks hold nothing leaves the report to the one whose hardware is in
// error, for a while.
[[noreturn]] void stop_for_machine_check(Kernel& kernel, const TrapFrame& frame) {
  const MachineCheckReport report = read_machine_checks();
  for (int turns = 0; report.errors == 0 && turns < 1'000'000; ++turns) {
    if (kernel.panicking_cpu.load(MemoryOrder::relaxed) != Kernel::nobody) break;
    pause();
  }
  panic_in(kernel, report.text.view(), &frame);
}

PanicText describe_exception(const Kernel& kernel, const TrapFrame& frame) {
  PanicText text;
  text.append(frame.vector < exception_names.size() ? exception_names[frame.vector] : "reserved exception");
  text.append(": ");
  if (frame.vector == exception::page_fault) {
    text.append(describe(page_fault_of(frame), kernel.platform).view());
  } else if (frame.vector == exception::double_fault && is_stack_overflow(frame)) {
    text.append_all("stack overflow, the guard page was hit at ", fault_address(), " by thread ",
                    current_thread().name());
  } else {
    text.append_all("error code ", Hexadecimal{frame.error_code});
  }
  return text;
}

}  // namespace

static void answer_trap(Kernel& kernel, TrapFrame& frame) {
  const bool is_interrupt = frame.vector >= exception::count;
  if (frame.vector == exception::non_maskable) stop_if_told(kernel);
  if (frame.vector == exception::machine_check) stop_for_machine_check(kernel, frame);
  const HandlersLocks record(is_interrupt);
  if (is_interrupt && kernel.controller().is_spurious(frame.vector)) return;
  if (frame.vector == exception::page_fault)
    trace(current_cpu(), &Tracepoints::page_fault, fault_address(), frame.error_code);
  const bool handled = kernel.interrupts.dispatch(frame) ||
                       (frame.vector == exception::page_fault && answer_page_fault(kernel, frame)) ||
                       (frame.vector == exception::device_not_available && answer_missing_part());
  const bool by_program = is_from_user(frame) && frame.vector != exception::non_maskable;
  if (!handled && !is_interrupt && by_program) {
    return signal_exception(frame, describe_exception(kernel, frame).view());
  }
  if (!handled && !is_interrupt) panic_in(kernel, describe_exception(kernel, frame).view(), &frame);
  if (!handled) kernel.log.warning("interrupt: expected a claimed vector, found ", frame.vector);
  if (is_interrupt) kernel.controller().end_of_interrupt(frame.vector);
}

extern "C" void ingot_trap(TrapFrame& frame) {
  answer_trap(*current_cpu().kernel, frame);
  // The stack of an interrupt that none can mask is for one at a time: nobody sleeps on it.
  if (is_from_user(frame) && frame.vector != exception::non_maskable) before_program(frame);
}

}  // namespace ingot::os::arch
