#include "os/arch/x86_64/signal_fault.h"

#include "os/arch/x86_64/cpu.h"
#include "os/boot/kernel.h"
#include "os/process/process.h"

namespace ingot::os::arch {

namespace {

// What an arithmetic unit complains of, in bits that x87 and SSE have alike, as the code that programs know.
std::int32_t arithmetic_code(std::uint32_t complaints) {
  constexpr std::uint32_t invalid = 1, denormal = 2, division = 4, overflow = 8, underflow = 16, inexact = 32;
  if ((complaints & invalid) != 0) return 7;
  if ((complaints & division) != 0) return 3;
  if ((complaints & overflow) != 0) return 4;
  if ((complaints & (underflow | denormal)) != 0) return 5;
  return (complaints & inexact) != 0 ? 6 : 0;
}
// Assembly, both: registers that no expression names. A complaint counts where it is not masked.
std::int32_t x87_code() {
  std::uint16_t status = 0, control = 0;
  asm volatile("fnstsw %0; fnstcw %1" : "=m"(status), "=m"(control));
  return arithmetic_code(status & ~std::uint32_t{control});
}
std::int32_t vector_code() {
  std::uint32_t control = 0;
  asm volatile("stmxcsr %0" : "=m"(control));  // assembly: as above
  return arithmetic_code(control & ~(control >> 7));
}

SignalInformation information_of(const TrapFrame& frame) {
  constexpr std::uint64_t x87_error = 16, alignment = 17, vector_error = 19;
  using namespace signal_code;
  switch (frame.vector) {
    case exception::divide_error: return SignalInformation::of(Signal::arithmetic_error, divided_by_zero, frame.rip);
    case x87_error: return SignalInformation::of(Signal::arithmetic_error, x87_code(), frame.rip);
    case vector_error: return SignalInformation::of(Signal::arithmetic_error, vector_code(), frame.rip);
    case exception::debug: return SignalInformation::of(Signal::trap, single_step, frame.rip);
    case exception::breakpoint: return SignalInformation::of(Signal::trap, by_kernel);
    case exception::device_not_available:
      return SignalInformation::of(Signal::illegal_instruction, bad_opcode, frame.rip);
    case exception::invalid_opcode: return SignalInformation::of(Signal::illegal_instruction, bad_operand, frame.rip);
    case alignment: return SignalInformation::of(Signal::bus_error, misaligned);
    case exception::page_fault:
      return SignalInformation::of(Signal::no_memory_there, not_mapped, fault_address().value());
    default: return SignalInformation::of(Signal::no_memory_there, by_kernel);
  }
}

void signal_or_end(const TrapFrame& frame, const SignalInformation& information, std::string_view report) {
  UserThread& thread = *current_thread().user_thread;
  if (thread.process().send_fault(thread, information)) return;
  thread.process().kernel().log.error("program: ", report, ", at ", instruction_of(frame));
  thread.process().end(128 + information.number);
}

}  // namespace

void signal_exception(const TrapFrame& frame, std::string_view report) {
  signal_or_end(frame, information_of(frame), report);
}

void signal_page_fault(const TrapFrame& frame, const PageFault& fault, const Error& refusal) {
  Kernel& kernel = *current_cpu().kernel;
  FixedText<240> report;
  report.append_all("page fault: ", describe(fault, kernel.platform).view());
  kernel.log.debug("page fault: ", refusal);
  const std::uint64_t address = fault.address.value();
  switch (refusal.code()) {
    case ErrorCode::not_found:
      return signal_or_end(frame, SignalInformation::of(Signal::no_memory_there, signal_code::not_mapped, address),
                           report.view());
    case ErrorCode::invalid_argument:
      return signal_or_end(frame, SignalInformation::of(Signal::no_memory_there, signal_code::not_allowed, address),
                           report.view());
    default:  // a mapping of a file, beyond its end
      return signal_or_end(frame, SignalInformation::of(Signal::bus_error, signal_code::beyond_the_end, address),
                           report.view());
  }
}

}  // namespace ingot::os::arch
