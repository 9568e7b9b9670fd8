// Which CPUs a thread runs on (man 2 sched_setaffinity, getcpu).
#include "os/boot/kernel.h"
#include "os/process/process.h"
#include "os/syscall/table.h"

namespace ingot::os {

namespace {

using CpuSet = std::uint64_t;  // the scheduler has no more CPUs than it has bits

CpuSet all_cpus(Kernel& kernel) {
  const std::uint32_t count = kernel.scheduler.processor_count();
  return count >= 64 ? ~CpuSet{0} : (CpuSet{1} << count) - 1;
}

// 0 is the caller.
std::uint32_t number_of(const Caller& caller, std::int32_t thread) {
  return thread == 0 ? caller.thread.number() : static_cast<std::uint32_t>(thread);
}

// A program may hand over fewer bytes than a set has, or more.
Answer<void> set_affinity(Caller& caller, std::int32_t thread, std::uint64_t bytes, VirtualAddress place) {
  CpuSet wanted = 0;
  if (!copy_from_user(&wanted, place, bytes < sizeof wanted ? bytes : sizeof wanted).ok()) return Errno::efault;
  wanted &= all_cpus(caller.kernel);
  if (wanted == 0) return Errno::einval;
  const std::uint32_t number = number_of(caller, thread);
  // Not under the lock of the threads: it may leave its CPU at once.
  if (number == caller.thread.number()) {
    caller.kernel.scheduler.restrict(caller.thread.thread(), wanted);
    return {};
  }
  const bool found = caller.process.with_thread(
      number, [&](UserThread& other) { caller.kernel.scheduler.restrict(other.thread(), wanted); });
  if (!found) return Errno::esrch;
  return {};
}

Answer<std::uint64_t> get_affinity(Caller& caller, std::int32_t thread, std::uint64_t bytes,
                                   UserPointer<CpuSet> place) {
  if (bytes < sizeof(CpuSet) || bytes % sizeof(CpuSet) != 0) return Errno::einval;
  CpuSet allowed = 0;
  const auto look = [&](UserThread& found) { allowed = found.thread().allowed_cpus(); };
  if (!caller.process.with_thread(number_of(caller, thread), look)) return Errno::esrch;
  TRY(place.write(allowed & all_cpus(caller.kernel)));
  return sizeof(CpuSet);
}

Answer<void> get_processor(Caller&, UserPointer<std::uint32_t> processor, UserPointer<std::uint32_t> node) {
  TRY(processor.write_if_wanted(arch::current_cpu().index));
  return node.write_if_wanted(0);
}

Answer<void> yield(Caller& caller) {
  caller.kernel.scheduler.yield();
  return {};
}

constexpr SystemCall rows[] = {
    system_call<&set_affinity>("sched_setaffinity"),
    system_call<&get_affinity>("sched_getaffinity"),
    system_call<&get_processor>("getcpu"),
    system_call<&yield>("sched_yield"),
};

}  // namespace

std::span<const SystemCall> schedule_calls() { return rows; }

}  // namespace ingot::os
