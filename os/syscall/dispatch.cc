#include "os/syscall/dispatch.h"

#include "os/boot/kernel.h"
#include "os/process/process.h"
#include "os/process/user_thread.h"
#include "os/syscall/call_trace.h"

namespace ingot::os {

namespace {

// A number below 0 in the answer's register is an error: Linux keeps 4095 for them.
std::uint64_t answer_of(Errno error) { return -static_cast<std::uint64_t>(error); }

[[gnu::noinline]] std::uint64_t miss(UserThread& thread, std::uint64_t number) {
  Kernel& kernel = thread.process().kernel();
  const std::string_view name = system_call_name(number).value_or("?");
  if (kernel.system_calls.missed_first_time(number)) {
    kernel.log.warning("system call: ", name, " (", number, ") is not answered: ENOSYS");
  }
  if (kernel.system_calls.is_traced()) kernel.log.debug('[', thread.number(), "] ", name, "(?) = -1 ENOSYS");
  return answer_of(Errno::enosys);
}

// Where other threads wait for this CPU, the program keeps it until its slice ends.
void share_cpu(Kernel& kernel) {
  Processor& processor = current_processor();
  if (processor.ready.looks_empty() || !processor.timers) return;
  if (processor.slice.has_ended()) {
    processor.slice.reset();
    kernel.scheduler.yield();
  } else if (!processor.slice.is_running()) {
    processor.slice.begin(*processor.timers, kernel.now() + kernel.time_slice);
  }
}

}  // namespace

void answer_system_call(arch::TrapFrame& frame) {
  UserThread& thread = *current_thread().user_thread;
  Kernel& kernel = thread.process().kernel();
  const std::uint64_t number = arch::system_call_number(frame);
  const SystemCall* row = kernel.system_calls.find(number);
  if (row == nullptr) return arch::set_system_call_answer(frame, miss(thread, number));
  SystemCallArguments arguments;
  for (std::size_t i = 0; i < arguments.size(); ++i) arguments[i] = arch::system_call_argument(frame, i);
  Caller caller{kernel, thread.process(), thread, frame};
  const Answer<std::uint64_t> answer =
      !kernel.system_calls.is_traced() ? row->call(caller, arguments) : call_traced(caller, *row, arguments);
  if (answer.ok()) return arch::set_system_call_answer(frame, answer.value());
  if (answer.error() >= Errno::restart) thread.add_work(program_work::restart);
  arch::set_system_call_answer(frame, answer_of(answer.error()));
}

void before_program(arch::TrapFrame& frame) {
  UserThread& thread = *current_thread().user_thread;
  share_cpu(thread.process().kernel());
  while (thread.has_work()) {
    arch::enable_interrupts();
    thread.work(frame);
    arch::disable_interrupts();
  }
}

}  // namespace ingot::os
