// How a thread is scheduled (man 7 sched). All threads share their CPUs in turn, whatever they ask for: what is set is
// kept and told, and no more (docs/os/programs.md).
#include "os/boot/kernel.h"
#include "os/process/process.h"
#include "os/syscall/table.h"
#include "os/syscall/time_values.h"

namespace ingot::os {

namespace {

// SCHED_OTHER, SCHED_FIFO, SCHED_RR, SCHED_BATCH, SCHED_IDLE; SCHED_DEADLINE (6) has calls of its own.
constexpr std::uint32_t ordinary = 0, first_come = 1, in_turn = 2, batch = 3, idle = 5;
constexpr std::uint32_t reset_on_fork = 0x4000'0000;  // SCHED_RESET_ON_FORK

bool is_real_time(std::uint32_t policy) { return policy == first_come || policy == in_turn; }
bool is_known(std::uint32_t policy) {
  return is_real_time(policy) || policy == ordinary || policy == batch || policy == idle;
}
std::int32_t lowest_of(std::uint32_t policy) { return is_real_time(policy) ? 1 : 0; }
std::int32_t highest_of(std::uint32_t policy) { return is_real_time(policy) ? 99 : 0; }

// use(policy) of one thread; 0 is the caller. EINVAL, ESRCH.
template <class Use>
Answer<void> with_policy(Caller& caller, std::int32_t thread, Use&& use) {
  if (thread < 0) return Errno::einval;
  const std::uint32_t number = thread == 0 ? caller.thread.number() : static_cast<std::uint32_t>(thread);
  if (!caller.process.with_thread(number, [&](UserThread& one) { use(one.policy); })) return Errno::esrch;
  return {};
}

Answer<void> set_both(Caller& caller, std::int32_t thread, std::optional<std::uint32_t> wanted,
                      UserPointer<std::int32_t> place) {
  if (thread < 0 || place.is_null()) return Errno::einval;
  const std::int32_t priority = TRY(place.read());
  SchedulingPolicy policy;
  TRY(with_policy(caller, thread, [&](SchedulingPolicy& found) { policy = found; }));
  if (wanted) {
    policy.policy = *wanted & ~reset_on_fork;
    policy.resets_on_fork = (*wanted & reset_on_fork) != 0;
  }
  if (!is_known(policy.policy)) return Errno::einval;
  if (priority < lowest_of(policy.policy) || priority > highest_of(policy.policy)) return Errno::einval;
  policy.priority = priority;
  return with_policy(caller, thread, [&](SchedulingPolicy& found) { found = policy; });
}
Answer<void> set_policy(Caller& caller, std::int32_t thread, std::uint32_t policy, UserPointer<std::int32_t> priority) {
  return set_both(caller, thread, policy, priority);
}
Answer<void> set_priority(Caller& caller, std::int32_t thread, UserPointer<std::int32_t> priority) {
  return set_both(caller, thread, {}, priority);
}
Answer<std::uint32_t> get_policy(Caller& caller, std::int32_t thread) {
  std::uint32_t policy = 0;
  TRY(with_policy(caller, thread, [&](SchedulingPolicy& found) {
    policy = found.policy | (found.resets_on_fork ? reset_on_fork : 0);
  }));
  return policy;
}
Answer<void> get_priority(Caller& caller, std::int32_t thread, UserPointer<std::int32_t> place) {
  if (place.is_null()) return Errno::einval;
  std::int32_t priority = 0;
  TRY(with_policy(caller, thread, [&](SchedulingPolicy& found) { priority = found.priority; }));
  return place.write(priority);
}
Answer<std::int32_t> highest_priority(Caller&, std::uint32_t policy) {
  return is_known(policy) ? Answer<std::int32_t>(highest_of(policy)) : Errno::einval;
}
Answer<std::int32_t> lowest_priority(Caller&, std::uint32_t policy) {
  return is_known(policy) ? Answer<std::int32_t>(lowest_of(policy)) : Errno::einval;
}

// All have slices, and all the same; who is to go on until it sleeps is told of none, as on Linux.
Answer<void> get_slice(Caller& caller, std::int32_t thread, UserPointer<TimeSpecification> place) {
  Nanoseconds slice = caller.kernel.time_slice;
  TRY(with_policy(caller, thread, [&](SchedulingPolicy& found) {
    if (found.policy == first_come) slice = Nanoseconds();
  }));
  return place.write(TimeSpecification::of(slice));
}

// PRIO_PROCESS, PRIO_PGRP, PRIO_USER: the one process is in all of them. 0 is the caller's.
Answer<void> check_whose(Caller& caller, std::uint32_t which, std::int32_t whose) {
  constexpr std::uint32_t of_thread = 0, of_group = 1, of_user = 2;
  if (which > of_user) return Errno::einval;
  const bool is_own = whose == 0 || (which == of_group && whose == static_cast<std::int32_t>(caller.process.number()));
  if (is_own) return {};
  if (which != of_thread || whose < 0) return Errno::esrch;
  return with_policy(caller, whose, [](SchedulingPolicy&) {});
}
// Linux answers 20 less the niceness, so that it is no error.
Answer<std::int32_t> get_niceness(Caller& caller, std::uint32_t which, std::int32_t whose) {
  TRY(check_whose(caller, which, whose));
  std::int32_t niceness = 0;
  TRY(with_policy(caller, which == 0 ? whose : 0, [&](SchedulingPolicy& found) { niceness = found.niceness; }));
  return 20 - niceness;
}
Answer<void> set_niceness(Caller& caller, std::uint32_t which, std::int32_t whose, std::int32_t niceness) {
  TRY(check_whose(caller, which, whose));
  constexpr std::int32_t least = -20, most = 19;
  niceness = niceness < least ? least : niceness > most ? most : niceness;
  if (which == 0) {
    return with_policy(caller, whose, [&](SchedulingPolicy& found) { found.niceness = niceness; });
  }
  caller.process.each_thread([&](UserThread& thread) { thread.policy.niceness = niceness; });
  return {};
}

constexpr SystemCall rows[] = {
    system_call<&get_policy>("sched_getscheduler"),
    system_call<&set_policy>("sched_setscheduler"),
    system_call<&get_priority>("sched_getparam"),
    system_call<&set_priority>("sched_setparam"),
    system_call<&highest_priority>("sched_get_priority_max"),
    system_call<&lowest_priority>("sched_get_priority_min"),
    system_call<&get_slice>("sched_rr_get_interval"),
    system_call<&get_niceness>("getpriority"),
    system_call<&set_niceness>("setpriority"),
};

}  // namespace

std::span<const SystemCall> policy_calls() { return rows; }

}  // namespace ingot::os
