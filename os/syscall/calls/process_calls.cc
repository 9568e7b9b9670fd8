// A program's place among processes (man 2 getpid, setpgid, wait4): it is the only one, and has no children.
#include "os/boot/kernel.h"
#include "os/process/process.h"
#include "os/syscall/table.h"

namespace ingot::os {

namespace {

Answer<std::uint32_t> own_number(Caller& caller) { return caller.process.number(); }
Answer<std::uint32_t> no_parent(Caller&) { return 0u; }

Answer<void> only_this_process(Caller& caller, std::int32_t process) {
  const bool is_this = process == 0 || process == static_cast<std::int32_t>(caller.process.number());
  return is_this ? Answer<void>() : Errno::esrch;
}

// It leads its own group and its own session, and can leave neither.
Answer<std::uint32_t> group_of(Caller& caller, std::int32_t process) {
  TRY(only_this_process(caller, process));
  return caller.process.number();
}
Answer<void> set_group(Caller& caller, std::int32_t process, std::int32_t) {
  TRY(only_this_process(caller, process));
  return Errno::eperm;
}
Answer<std::uint32_t> begin_session(Caller&) { return Errno::eperm; }

Answer<std::uint64_t> no_new_process(Caller& caller) {
  caller.kernel.log.warning("fork: expected one process for good, found the wish for another: ENOSYS");
  return Errno::enosys;
}

// Arguments are looked at first, in Linux's order.
Answer<std::uint32_t> wait_for_child(Caller&, std::int32_t which, VirtualAddress, std::uint32_t options) {
  constexpr std::uint32_t known = 0xe000'000b;  // WNOHANG, WUNTRACED, WCONTINUED, __WNOTHREAD, __WALL, __WCLONE
  if ((options & ~known) != 0) return Errno::einval;
  return which == INT32_MIN ? Errno::esrch : Errno::echild;
}
Answer<std::uint32_t> wait_for_state(Caller&, std::uint32_t kind, std::int32_t which, VirtualAddress,
                                     std::uint32_t options) {
  constexpr std::uint32_t all = 0, one = 1, descriptor = 3;   // P_ALL, P_PID, P_PIDFD; P_PGID is 2
  constexpr std::uint32_t states = 0xe, known = 0xe100'000f;  // WEXITED, WSTOPPED, WCONTINUED; and WNOWAIT
  if ((options & ~known) != 0 || (options & states) == 0 || kind > descriptor) return Errno::einval;
  if (kind != all && (which < 0 || (kind == one && which == 0))) return Errno::einval;
  // A descriptor names no process: there are no files of that kind.
  return kind == descriptor ? Errno::ebadf : Errno::echild;
}

// Linux's own behaviour, which is all there is.
Answer<std::uint32_t> personality(Caller&, std::uint32_t wanted) {
  constexpr std::uint32_t question = ~std::uint32_t{0}, linux_behaviour = 0;
  return wanted == question || wanted == linux_behaviour ? Answer<std::uint32_t>(linux_behaviour) : Errno::einval;
}

constexpr SystemCall rows[] = {
    system_call<&own_number>("getpid"),     system_call<&no_parent>("getppid"),
    system_call<&own_number>("getpgrp"),    system_call<&group_of>("getpgid"),
    system_call<&group_of>("getsid"),       system_call<&set_group>("setpgid"),
    system_call<&begin_session>("setsid"),  system_call<&no_new_process>("fork"),
    system_call<&no_new_process>("vfork"),  system_call<&wait_for_child>("wait4"),
    system_call<&wait_for_state>("waitid"), system_call<&personality>("personality"),
};

}  // namespace

std::span<const SystemCall> process_calls() { return rows; }

}  // namespace ingot::os
