// Threads: how they begin and end, and who they are.
#include "os/boot/kernel.h"
#include "os/process/process.h"
#include "os/syscall/table.h"

namespace ingot::os {

namespace {

namespace clone_flag {
constexpr std::uint64_t memory = 0x100, working_directory = 0x200, files = 0x400, signal_actions = 0x800,
                        thread = 0x10000, thread_storage = 0x80000, parent_number = 0x100000,
                        clear_child_number = 0x200000, child_number = 0x1000000;
constexpr std::uint64_t of_a_thread = memory | working_directory | files | signal_actions | thread;
}  // namespace clone_flag

Answer<std::uint32_t> thread_number(Caller& caller) { return caller.thread.number(); }
Answer<std::uint32_t> process_number(Caller& caller) { return caller.process.number(); }
Answer<std::uint32_t> parent_number(Caller&) { return 0u; }

Answer<std::uint32_t> clear_at_exit(Caller& caller, UserPointer<std::uint32_t> address) {
  caller.thread.clear_at_exit = address;
  return caller.thread.number();
}

Answer<void> set_robust_list(Caller& caller, VirtualAddress head, std::uint64_t bytes) {
  constexpr std::uint64_t head_bytes = 24;
  if (bytes != head_bytes) return Errno::einval;
  caller.thread.robust_list = head;
  return {};
}

Answer<std::uint32_t> clone(Caller& caller, std::uint64_t flags, VirtualAddress stack,
                            UserPointer<std::uint32_t> parent_place, UserPointer<std::uint32_t> child_place,
                            std::uint64_t storage) {
  if ((flags & clone_flag::of_a_thread) != clone_flag::of_a_thread || stack == VirtualAddress(0)) {
    caller.kernel.log.warning("clone: expected a thread, found a new process: there is one process, ENOSYS");
    return Errno::enosys;
  }
  const bool has_storage = (flags & clone_flag::thread_storage) != 0;
  const std::optional<UserAddress> base = has_storage ? UserAddress::of(storage) : caller.thread.state().fs_base;
  if (!base) return Errno::eperm;
  const Result<UserThread*> added = caller.process.add_thread(arch::cloned_frame(caller.registers, stack), *base);
  if (!added.ok()) return Errno::eagain;  // what pthread_create expects when there is no memory for one more
  UserThread& child = *added.value();
  child.signals.blocked = caller.thread.signals.blocked;
  child.name = caller.thread.name;
  arch::save_whole_vectors(child.vectors());  // the registers of the one who calls
  caller.kernel.scheduler.restrict(child.thread(), caller.thread.thread().allowed_cpus());
  if ((flags & clone_flag::clear_child_number) != 0) child.clear_at_exit = child_place;
  const std::uint32_t number = child.number();
  // The same memory: an address that is wrong harms the program alone, and Linux starts the thread all the same.
  if ((flags & clone_flag::parent_number) != 0) static_cast<void>(parent_place.write(number));
  if ((flags & clone_flag::child_number) != 0) static_cast<void>(child_place.write(number));
  caller.process.start(child);
  return number;
}

Answer<std::uint64_t> no_new_process(Caller& caller) {
  caller.kernel.log.warning("fork: expected one process for good, found the wish for another: ENOSYS");
  return Errno::enosys;
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
    system_call<&thread_number>("gettid"),
    system_call<&process_number>("getpid"),
    system_call<&parent_number>("getppid"),
    system_call<&clear_at_exit>("set_tid_address"),
    system_call<&set_robust_list>("set_robust_list"),
    system_call<&clone>("clone"),
    system_call<&no_new_process>("fork"),
    system_call<&no_new_process>("vfork"),
    system_call<&exit_thread>("exit"),
    system_call<&exit_process>("exit_group"),
};

}  // namespace

std::span<const SystemCall> thread_calls() { return rows; }

}  // namespace ingot::os
