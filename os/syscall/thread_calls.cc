// Threads: who they are, and how they end.
#include "os/process/process.h"
#include "os/syscall/table.h"

namespace ingot::os {

namespace {

Answer<std::uint32_t> thread_number(Caller& caller) { return caller.thread.number(); }
Answer<std::uint32_t> process_number(Caller& caller) { return caller.process.number(); }

Answer<std::uint32_t> clear_at_exit(Caller& caller, UserPointer<std::uint32_t> address) {
  caller.thread.clear_at_exit = address;
  return caller.thread.number();
}

Answer<void> exit_thread(Caller& caller, int status) {
  caller.process.remember_status(status);
  caller.thread.exit();
}

// The thread itself ends on its way back, like all others.
Answer<void> exit_process(Caller& caller, int status) {
  caller.process.end(status);
  return {};
}

constexpr SystemCall rows[] = {
    system_call<&thread_number>("gettid"),          system_call<&process_number>("getpid"),
    system_call<&clear_at_exit>("set_tid_address"), system_call<&exit_thread>("exit"),
    system_call<&exit_process>("exit_group"),
};

}  // namespace

std::span<const SystemCall> thread_calls() { return rows; }

}  // namespace ingot::os
