// What a program has used (man 2 getrusage, times).
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
  constexpr std::int32_t children = -1, all = 0, this_thread = 1;  // RUSAGE_CHILDREN, RUSAGE_SELF, RUSAGE_THREAD
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

constexpr SystemCall rows[] = {
    system_call<&get_usage>("getrusage"),
    system_call<&get_times>("times"),
};

}  // namespace

std::span<const SystemCall> usage_calls() { return rows; }

}  // namespace ingot::os
