// Exceptions reach the handler that claimed them with a true frame, and the program goes on where the frame says.
//
// boot-test: success
// boot-test: expect divide error: seen at the division
// boot-test: expect breakpoint: seen behind the instruction
// boot-test: expect page fault: read of 0xffffd00000001238, error code 0x0
// boot-test: expect registers survived
#include "os/arch/arch.h"
#include "os/boot/kernel.h"
#include "os/trace/panic.h"

// Named instructions, so that a handler can tell where it was called from and where to go on.
extern "C" const char divide_here[], after_divide[], after_breakpoint[], after_read[];

namespace ingot::os {

namespace {

std::uint64_t address_of(const char* label) { return reinterpret_cast<std::uint64_t>(label); }

void claim(Kernel& kernel, std::size_t vector, void (*function)(void*, arch::TrapFrame&)) {
  const Result<void> claimed = kernel.interrupts.claim(vector, {function, &kernel});
  if (!claimed.ok()) panic(claimed.error());
}
Log& log_of(void* context) { return static_cast<Kernel*>(context)->log; }

void on_divide(void* context, arch::TrapFrame& frame) {
  if (frame.rip == address_of(divide_here)) log_of(context).information("divide error: seen at the division");
  frame.rip = address_of(after_divide);
}
void on_breakpoint(void* context, arch::TrapFrame& frame) {
  if (frame.rip == address_of(after_breakpoint)) {
    log_of(context).information("breakpoint: seen behind the instruction");
  }
}
void on_page_fault(void* context, arch::TrapFrame& frame) {
  log_of(context).information("page fault: read of ", arch::fault_address(), ", error code ",
                              Hexadecimal{frame.error_code});
  frame.rip = address_of(after_read);
}

}  // namespace

void run_payload(Kernel& kernel) {
  claim(kernel, arch::exception::divide_error, on_divide);
  claim(kernel, arch::exception::breakpoint, on_breakpoint);
  claim(kernel, arch::exception::page_fault, on_page_fault);
  // Assembly: the compiler would find the division wrong, and no C++ statement has an address.
  std::uint64_t kept = 0x1122334455667788;
  asm volatile(
      "xorl %%edx, %%edx\n\t"
      "xorl %%ecx, %%ecx\n\t"
      "movl $7, %%eax\n"
      "divide_here: divl %%ecx\n"
      "after_divide: int3\n"
      "after_breakpoint: movabsq $0xffffd00000001238, %%rax\n\t"
      "movq (%%rax), %%rax\n"
      "after_read: nop"
      : "+r"(kept)
      :
      : "rax", "rcx", "rdx", "memory");
  if (kept == 0x1122334455667788) kernel.log.information("registers survived");
}

}  // namespace ingot::os
