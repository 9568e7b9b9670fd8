// What a program has used, and what its threads are called (man 2 getrusage, times, prctl).
#include <string_view>

#include "os/boot/kernel.h"
#include "os/process/process.h"
#include "os/syscall/table.h"
#include "os/syscall/time_values.h"

namespace ingot::os {

namespace {

// struct rusage. What nobody counts is 0, as on Linux.
struct Usage {
  TimeValue program, kernel;
  std::int64_t most_resident_kib;
  std::int64_t others[13];
};
static_assert(sizeof(Usage) == 144);

// All the time is the program's: nobody looks at a clock when it comes to the kernel and goes.
Answer<void> get_usage(Caller& caller, std::int32_t whose, UserPointer<Usage> place) {
  constexpr std::int32_t children = -1, all = 0, this_thread = 1;
  if (whose != children && whose != all && whose != this_thread) return Errno::einval;
  Usage usage{};
  if (whose != children) {
    const Nanoseconds time = whose == all ? caller.process.processor_time() : caller.thread.processor_time();
    usage.program = {time.count() / 1'000'000'000, time.count() % 1'000'000'000 / 1000};
    usage.most_resident_kib = static_cast<std::int64_t>(caller.process.memory().account().resident().peak() >> 10);
  }
  return place.write(usage);
}

// struct tms, in hundredths of a second.
struct Times {
  std::int64_t program, kernel, program_of_children, kernel_of_children;
};
constexpr std::int64_t nanoseconds_per_tick = 10'000'000;

Answer<std::int64_t> get_times(Caller& caller, UserPointer<Times> place) {
  TRY(place.write_if_wanted({caller.process.processor_time().count() / nanoseconds_per_tick, 0, 0, 0}));
  return caller.kernel.now().count() / nanoseconds_per_tick;
}

// Of what prctl can do, what programs ask for. The rest is EINVAL, as on a kernel that was built without it.
Answer<std::uint64_t> control(Caller& caller, std::uint32_t request, std::uint64_t value) {
  constexpr std::uint32_t set_death_signal = 1, get_death_signal = 2, get_dumpable = 3, set_dumpable = 4, set_name = 15,
                          get_name = 16, set_timer_slack = 29, get_timer_slack = 30, set_no_new_rights = 38,
                          get_no_new_rights = 39;
  constexpr std::uint64_t usual_slack = 50'000;  // nanoseconds
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

constexpr SystemCall rows[] = {
    system_call<&get_usage>("getrusage"),
    system_call<&get_times>("times"),
    system_call<&control>("prctl"),
};

}  // namespace

std::span<const SystemCall> usage_calls() { return rows; }

}  // namespace ingot::os
