// Threads: how they begin and end, who they are, and what each has of its own (man 2 clone, set_tid_address, prctl).
#include "os/boot/kernel.h"
#include "os/process/process.h"
#include "os/syscall/table.h"

namespace ingot::os {

namespace {

// CLONE_VM, CLONE_FS, CLONE_FILES, CLONE_SIGHAND, CLONE_THREAD, CLONE_SETTLS, CLONE_PARENT_SETTID,
// CLONE_CHILD_CLEARTID, CLONE_CHILD_SETTID.
namespace clone_flag {
constexpr std::uint64_t memory = 0x100, working_directory = 0x200, files = 0x400, signal_actions = 0x800,
                        thread = 0x10000, thread_storage = 0x80000, parent_number = 0x100000,
                        clear_child_number = 0x200000, child_number = 0x1000000;
constexpr std::uint64_t of_a_thread = memory | working_directory | files | signal_actions | thread;
}  // namespace clone_flag

Answer<std::uint32_t> thread_number(Caller& caller) { return caller.thread.number(); }

Answer<std::uint32_t> clear_at_exit(Caller& caller, UserPointer<std::uint32_t> address) {
  caller.thread.clear_at_exit = address;
  return caller.thread.number();
}

constexpr std::uint64_t robust_head_bytes = 24;
Answer<void> set_robust_list(Caller& caller, VirtualAddress head, std::uint64_t bytes) {
  if (bytes != robust_head_bytes) return Errno::einval;
  caller.thread.robust_list = head;
  return {};
}

// 0 is the caller's own. musl takes the kernel for one without robust locks if nobody answers.
Answer<void> get_robust_list(Caller& caller, std::int32_t thread, UserPointer<std::uint64_t> head,
                             UserPointer<std::uint64_t> bytes) {
  VirtualAddress found;
  const std::uint32_t number = thread == 0 ? caller.thread.number() : static_cast<std::uint32_t>(thread);
  if (!caller.process.with_thread(number, [&](UserThread& one) { found = one.robust_list; })) return Errno::esrch;
  TRY(bytes.write(robust_head_bytes));
  return head.write(found.value());
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
  if (!caller.thread.policy.resets_on_fork) child.policy = caller.thread.policy;
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

// Of what prctl can do, what programs ask for. The rest is EINVAL, as on a kernel that was built without it.
Answer<std::uint64_t> control(Caller& caller, std::uint32_t request, std::uint64_t value) {
  constexpr std::uint32_t set_death_signal = 1, get_death_signal = 2,  // PR_SET_PDEATHSIG, PR_GET_PDEATHSIG
      get_dumpable = 3, set_dumpable = 4,                              // PR_GET_DUMPABLE, PR_SET_DUMPABLE
      set_name = 15, get_name = 16,                                    // PR_SET_NAME, PR_GET_NAME
      set_timer_slack = 29, get_timer_slack = 30,                      // PR_SET_TIMERSLACK, PR_GET_TIMERSLACK
      set_no_new_rights = 38, get_no_new_rights = 39;                  // PR_SET_NO_NEW_PRIVS, PR_GET_NO_NEW_PRIVS
  constexpr std::uint64_t usual_slack = 50'000;                        // nanoseconds
  UserThread& thread = caller.thread;
  switch (request) {
    case set_name: {
      // As much as fits: Linux cuts the rest off.
      const Answer<std::size_t> read = UserText{VirtualAddress(value)}.read(thread.name);
      if (!read.ok() && read.error() != Errno::enametoolong) return read.error();
      thread.name.back() = '\0';
      return std::uint64_t{0};
    }
    case get_name:
      if (!copy_to_user(VirtualAddress(value), thread.name.data(), thread.name.size()).ok()) return Errno::efault;
      return std::uint64_t{0};
    case get_death_signal: TRY(UserPointer<std::int32_t>{VirtualAddress(value)}.write(0)); return std::uint64_t{0};
    case set_death_signal:  // no parent dies
      if (value > signal_count) return Errno::einval;
      return std::uint64_t{0};
    case set_dumpable:
      if (value > 1) return Errno::einval;
      return std::uint64_t{0};
    case get_dumpable: return std::uint64_t{1};
    case set_timer_slack: return std::uint64_t{0};
    case get_timer_slack: return usual_slack;
    case set_no_new_rights:  // there is no program to start with more
      if (value != 1) return Errno::einval;
      return std::uint64_t{0};
    case get_no_new_rights: return std::uint64_t{1};
    default: return Errno::einval;
  }
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
    system_call<&clear_at_exit>("set_tid_address"),
    system_call<&set_robust_list>("set_robust_list"),
    system_call<&get_robust_list>("get_robust_list"),
    system_call<&clone>("clone"),
    system_call<&control>("prctl"),
    system_call<&exit_thread>("exit"),
    system_call<&exit_process>("exit_group"),
};

}  // namespace

std::span<const SystemCall> thread_calls() { return rows; }

}  // namespace ingot::os
