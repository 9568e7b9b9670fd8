#include "os/syscall/dispatch.h"

#include "os/boot/kernel.h"
#include "os/process/process.h"
#include "os/process/user_thread.h"
#include "os/syscall/call_trace.h"

namespace ingot::os {

namespace {

[[gnu::noinline]] std::uint64_t miss(UserThread& thread, std::uint64_t number) {
  Kernel& kernel = thread.process().kernel();
  if (kernel.system_calls.missed_first_time(number)) {
    kernel.log.warning("system call: ", system_call_name(number).value_or("?"), " (", number,
                       ") is not answered: ENOSYS");
  }
  if (kernel.system_calls.is_traced()) {
    kernel.log.debug('[', thread.number(), "] ", system_call_name(number).value_or("?"), "(?) = -1 ENOSYS");
  }
  return answer_of(Errno::enosys);
}

// Whether others wait for this CPU, or want its thread elsewhere.
bool is_wanted(const Processor& processor) {
  return !processor.ready.looks_empty() || !processor.current->may_run_on(processor.index);
}

// The program keeps a CPU that others wait for until its slice ends; for a thread of the kernel that was woken, and
// where it may not stay, it leaves at once. True: it was away, and perhaps the CPU is another.
bool share_cpu(Kernel& kernel, Processor& processor) {
  const bool may_stay = !processor.is_wanted_at_once();
  if (may_stay && (processor.ready.looks_empty() || !processor.timers)) return false;
  if (may_stay && !processor.slice.has_ended()) {
    if (!processor.slice.is_running()) processor.slice.begin(*processor.timers, kernel.now() + kernel.time_slice);
    return false;
  }
  if (processor.slice.has_ended()) processor.slice.reset();
  kernel.scheduler.yield();
  return true;
}

// Apart, so that a call that finds nothing to do stays within its budget of instructions.
[[gnu::noinline]] void work_before_program(UserThread& thread, arch::TrapFrame& frame) {
  while (true) {
    while (share_cpu(thread.process().kernel(), current_processor())) {
    }
    if (!thread.has_work()) return;
    arch::enable_interrupts();
    thread.work(frame);
    arch::disable_interrupts();
  }
}

}  // namespace

void share_cpu(Kernel& kernel) {
  const InterruptsOff quiet;
  share_cpu(kernel, current_processor());
}

void answer_system_call(arch::TrapFrame& frame) {
  UserThread& thread = *current_processor().current->user_thread;
  Kernel& kernel = thread.process().kernel();
  const std::uint64_t number = arch::system_call_number(frame);
  const SystemCall* row = kernel.system_calls.find(number);
  if (row == nullptr) return arch::set_system_call_answer(frame, miss(thread, number));
  Caller caller{kernel, thread.process(), thread, frame};
  const Answer<std::uint64_t> answer = !kernel.system_calls.is_traced() ? row->call(caller) : call_traced(caller, *row);
  if (answer.ok()) return arch::set_system_call_answer(frame, answer.value());
  if (answer.error() >= Errno::restart) thread.add_work(program_work::restart);
  arch::set_system_call_answer(frame, answer_of(answer.error()));
}

void before_program(arch::TrapFrame& frame) {
  const Processor& processor = current_processor();
  UserThread& thread = *processor.current->user_thread;
  if (is_wanted(processor) || thread.has_work()) work_before_program(thread, frame);
}

}  // namespace ingot::os
