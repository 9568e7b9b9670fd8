// Clocks and sleeping (man 2 clock_gettime, clock_nanosleep).
#include "os/boot/kernel.h"
#include "os/process/process.h"
#include "os/syscall/table.h"
#include "os/syscall/time_values.h"

namespace ingot::os {

namespace {

enum class Clock : std::uint32_t {
  real_time = 0,
  monotonic = 1,
  process_time = 2,
  thread_time = 3,
  raw_monotonic = 4,
  coarse_real_time = 5,
  coarse_monotonic = 6,
  boot_time = 7
};

// A clock of one thread's time, or of a process's, has their number in it (man 3 pthread_getcpuclockid).
Answer<Nanoseconds> time_of_numbered(Caller& caller, std::int32_t clock) {
  constexpr std::int32_t kind = 3, of_thread = 4, processor_time = 2;
  const auto number = static_cast<std::uint32_t>(~(clock >> 3));
  if ((clock & kind) > processor_time) return Errno::einval;
  if ((clock & of_thread) == 0) {
    if (number != 0 && number != caller.process.number()) return Errno::einval;
    return caller.process.processor_time();
  }
  if (number == 0 || number == caller.thread.number()) return caller.thread.processor_time();
  const SignalInformation question;  // the signal 0: is there such a thread?
  if (!caller.process.send(question, number).ok()) return Errno::einval;
  return caller.process.processor_time_of(number);
}

Answer<Nanoseconds> time_of(Caller& caller, Clock clock) {
  Kernel& kernel = caller.kernel;
  switch (clock) {
    case Clock::real_time:
    case Clock::coarse_real_time: return kernel.wall_time();
    case Clock::monotonic:
    case Clock::raw_monotonic:
    case Clock::coarse_monotonic:
    case Clock::boot_time: return kernel.now();
    case Clock::process_time: return caller.process.processor_time();
    case Clock::thread_time: return caller.thread.processor_time();
  }
  if (static_cast<std::int32_t>(clock) < 0) return time_of_numbered(caller, static_cast<std::int32_t>(clock));
  return Errno::einval;
}

Answer<void> get_time(Caller& caller, Clock clock, UserPointer<TimeSpecification> place) {
  return place.write(TimeSpecification::of(TRY(time_of(caller, clock))));
}

Answer<void> get_resolution(Caller& caller, Clock clock, UserPointer<TimeSpecification> place) {
  TRY(time_of(caller, clock));
  return place.write_if_wanted({0, 1});
}

Answer<void> get_time_of_day(Caller& caller, UserPointer<TimeValue> place, UserPointer<std::uint64_t> zone) {
  const std::int64_t microseconds = caller.kernel.wall_time().count() / 1000;
  TRY(place.write_if_wanted({microseconds / 1'000'000, microseconds % 1'000'000}));
  return zone.write_if_wanted(0);  // universal time, no daylight saving
}

Answer<std::int64_t> get_seconds(Caller& caller, UserPointer<std::int64_t> place) {
  const std::int64_t seconds = TimeSpecification::of(caller.kernel.wall_time()).seconds;
  TRY(place.write_if_wanted(seconds));
  return seconds;
}

// EINTR where a handler runs first, with what was left.
Answer<void> sleep_until(Caller& caller, Nanoseconds deadline, UserPointer<TimeSpecification> rest) {
  caller.thread.wait(deadline);
  const Nanoseconds left = deadline - caller.kernel.now();
  if (!caller.thread.is_interrupted() || left.count() <= 0) return {};
  TRY(rest.write_if_wanted(TimeSpecification::of(left)));
  caller.thread.keep_deadline(deadline);
  return Errno::restart_without_handler;
}

Answer<void> sleep(Caller& caller, UserPointer<TimeSpecification> duration, UserPointer<TimeSpecification> rest) {
  const std::optional<Nanoseconds> kept = caller.thread.take_kept_deadline();
  const TimeSpecification specification = TRY(duration.read());
  const Nanoseconds time = TRY(specification.nanoseconds());
  return sleep_until(caller, kept.value_or(later(caller.kernel.now(), time)), rest);
}

Answer<void> sleep_by(Caller& caller, Clock clock, std::uint32_t flags, UserPointer<TimeSpecification> time,
                      UserPointer<TimeSpecification> rest) {
  constexpr std::uint32_t absolute = 1;
  if (clock == Clock::process_time || clock == Clock::thread_time || static_cast<std::int32_t>(clock) < 0) {
    return Errno::eopnotsupp;  // nobody wakes a thread by what others spend
  }
  if ((flags & absolute) == 0) return sleep(caller, time, rest);
  const TimeSpecification specification = TRY(time.read());
  const Nanoseconds until = TRY(specification.nanoseconds());
  const Nanoseconds now = TRY(time_of(caller, clock));
  static_cast<void>(caller.thread.take_kept_deadline());  // it is the same
  return sleep_until(caller, caller.kernel.now() + (until - now), {});
}

constexpr SystemCall rows[] = {
    system_call<&get_time>("clock_gettime"),
    system_call<&get_resolution>("clock_getres"),
    system_call<&get_time_of_day>("gettimeofday"),
    system_call<&get_seconds>("time"),
    system_call<&sleep>("nanosleep"),
    system_call<&sleep_by>("clock_nanosleep"),
};

}  // namespace

std::span<const SystemCall> time_calls() { return rows; }

}  // namespace ingot::os
