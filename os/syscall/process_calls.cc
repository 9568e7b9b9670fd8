// A program's place among processes: it is the only one, the superuser's, and has no children.
#include "os/boot/kernel.h"
#include "os/process/process.h"
#include "os/syscall/table.h"

namespace ingot::os {

namespace {

Answer<void> only_this_process(Caller& caller, std::int32_t process) {
  const bool is_this = process == 0 || process == static_cast<std::int32_t>(caller.process.number());
  return is_this ? Answer<void>() : Errno::esrch;
}

// It leads its own group and its own session, and can leave neither.
Answer<std::uint32_t> own_group(Caller& caller) { return caller.process.number(); }
Answer<std::uint32_t> group_of(Caller& caller, std::int32_t process) {
  TRY(only_this_process(caller, process));
  return caller.process.number();
}
Answer<void> set_group(Caller& caller, std::int32_t process, std::int32_t) {
  TRY(only_this_process(caller, process));
  return Errno::eperm;
}
Answer<std::uint32_t> begin_session(Caller&) { return Errno::eperm; }

Answer<std::uint32_t> further_groups(Caller&, std::int32_t room, UserPointer<std::uint32_t>) {
  return room < 0 ? Answer<std::uint32_t>(Errno::einval) : std::uint32_t{0};
}
Answer<void> three_identities(Caller&, UserPointer<std::uint32_t> real, UserPointer<std::uint32_t> effective,
                              UserPointer<std::uint32_t> saved) {
  TRY(real.write(0));
  TRY(effective.write(0));
  return saved.write(0);
}

// It stays who it is: who wants to be somebody else must not believe to be it. -1 changes nothing.
Answer<void> stay(std::uint32_t wanted) {
  constexpr std::uint32_t unchanged = ~std::uint32_t{0};
  return wanted == 0 || wanted == unchanged ? Answer<void>() : Errno::eperm;
}
Answer<void> set_identity(Caller&, std::uint32_t wanted) { return stay(wanted); }
Answer<void> set_two_identities(Caller&, std::uint32_t real, std::uint32_t effective) {
  TRY(stay(real));
  return stay(effective);
}
Answer<void> set_three_identities(Caller&, std::uint32_t real, std::uint32_t effective, std::uint32_t saved) {
  TRY(stay(real));
  TRY(stay(effective));
  return stay(saved);
}
Answer<void> set_further_groups(Caller&, std::uint32_t count, UserPointer<std::uint32_t>) {
  return count == 0 ? Answer<void>() : Errno::eperm;
}

Answer<std::uint32_t> no_children(Caller&) { return Errno::echild; }

// Linux's own behaviour, which is all there is.
Answer<std::uint32_t> personality(Caller&, std::uint32_t wanted) {
  constexpr std::uint32_t question = ~std::uint32_t{0}, linux_behaviour = 0;
  return wanted == question || wanted == linux_behaviour ? Answer<std::uint32_t>(linux_behaviour) : Errno::einval;
}

// All threads are equal, so nobody can be nicer. Linux answers 20 less the niceness.
Answer<std::uint32_t> get_priority(Caller&, std::uint32_t which, std::uint32_t) {
  constexpr std::uint32_t kinds = 3;
  return which < kinds ? Answer<std::uint32_t>(std::uint32_t{20}) : Errno::einval;
}
Answer<void> set_priority(Caller&, std::uint32_t which, std::uint32_t, std::int32_t niceness) {
  constexpr std::uint32_t kinds = 3;
  if (which >= kinds) return Errno::einval;
  return niceness == 0 ? Answer<void>() : Errno::eacces;
}

constexpr std::uint32_t ordinary_policy = 0, first_real_time = 1, second_real_time = 2, batch_policy = 3,
                        idle_policy = 5;
bool is_real_time(std::uint32_t policy) { return policy == first_real_time || policy == second_real_time; }
bool is_known(std::uint32_t policy) {
  return is_real_time(policy) || policy == ordinary_policy || policy == batch_policy || policy == idle_policy;
}

Answer<std::uint32_t> get_policy(Caller&, std::int32_t thread) {
  return thread < 0 ? Answer<std::uint32_t>(Errno::einval) : ordinary_policy;
}
Answer<void> get_policy_priority(Caller&, std::int32_t thread, UserPointer<std::int32_t> place) {
  return thread < 0 ? Errno::einval : place.write(0);
}
Answer<void> set_policy_priority(Caller&, std::int32_t thread, UserPointer<std::int32_t> priority) {
  return thread < 0 || TRY(priority.read()) != 0 ? Errno::einval : Answer<void>();
}
Answer<void> set_policy(Caller&, std::int32_t, std::uint32_t policy, UserPointer<std::int32_t> priority) {
  if (!is_known(policy) || (TRY(priority.read()) == 0) == is_real_time(policy)) return Errno::einval;
  return policy == ordinary_policy ? Answer<void>() : Errno::eperm;
}
Answer<std::uint32_t> highest_priority(Caller&, std::uint32_t policy) {
  if (!is_known(policy)) return Errno::einval;
  return is_real_time(policy) ? 99u : 0u;
}
Answer<std::uint32_t> lowest_priority(Caller&, std::uint32_t policy) {
  if (!is_known(policy)) return Errno::einval;
  return is_real_time(policy) ? 1u : 0u;
}

constexpr SystemCall rows[] = {
    system_call<&own_group>("getpgrp"),
    system_call<&group_of>("getpgid"),
    system_call<&group_of>("getsid"),
    system_call<&set_group>("setpgid"),
    system_call<&begin_session>("setsid"),
    system_call<&further_groups>("getgroups"),
    system_call<&three_identities>("getresuid"),
    system_call<&three_identities>("getresgid"),
    system_call<&set_identity>("setuid"),
    system_call<&set_identity>("setgid"),
    system_call<&set_two_identities>("setreuid"),
    system_call<&set_two_identities>("setregid"),
    system_call<&set_three_identities>("setresuid"),
    system_call<&set_three_identities>("setresgid"),
    system_call<&set_further_groups>("setgroups"),
    system_call<&no_children>("wait4"),
    system_call<&no_children>("waitid"),
    system_call<&personality>("personality"),
    system_call<&get_priority>("getpriority"),
    system_call<&set_priority>("setpriority"),
    system_call<&get_policy>("sched_getscheduler"),
    system_call<&get_policy_priority>("sched_getparam"),
    system_call<&set_policy_priority>("sched_setparam"),
    system_call<&set_policy>("sched_setscheduler"),
    system_call<&highest_priority>("sched_get_priority_max"),
    system_call<&lowest_priority>("sched_get_priority_min"),
};

}  // namespace

std::span<const SystemCall> process_calls() { return rows; }

}  // namespace ingot::os
