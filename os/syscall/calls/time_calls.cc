// Clocks and sleeping (man 2 clock_gettime, clock_nanosleep).
#include "os/boot/kernel.h"
#include "os/process/process.h"
#include "os/syscall/clocks.h"
#include "os/syscall/table.h"
#include "os/syscall/time_values.h"

namespace ingot::os {

namespace {

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

// Until CPUs have spent so much on the program: as fast as all of them can, or looking again (process_timers.h).
Answer<void> sleep_by_processor_time(Caller& caller, Nanoseconds until) {
  constexpr Nanoseconds least{4'000'000};
  while (!caller.thread.is_interrupted()) {
    const std::int64_t left = (until - caller.process.processor_time()).count();
    if (left <= 0) return {};
    const Nanoseconds soonest(left / caller.kernel.scheduler.processor_count());
    caller.thread.wait(later(caller.kernel.now(), soonest < least ? least : soonest));
  }
  return Errno::eintr;
}

Answer<void> sleep_by(Caller& caller, Clock clock, std::uint32_t flags, UserPointer<TimeSpecification> time,
                      UserPointer<TimeSpecification> rest) {
  constexpr std::uint32_t absolute = 1;  // TIMER_ABSTIME
  const Nanoseconds now = TRY(time_of(caller, clock));
  const std::optional<ProcessorClock> own = TRY(processor_clock(caller, clock));
  // By its own time a thread would sleep for ever; by another thread's, nobody asked yet.
  if (own && own->thread != 0) return clock == Clock::thread_time ? Errno::einval : Errno::eopnotsupp;
  const bool is_for_sleep = own || clock == Clock::real_time || clock == Clock::monotonic || clock == Clock::boot_time;
  if (!is_for_sleep) return Errno::eopnotsupp;
  if ((flags & absolute) == 0 && !own) return sleep(caller, time, rest);
  const TimeSpecification specification = TRY(time.read());
  const Nanoseconds given = TRY(specification.nanoseconds());
  if (own) return sleep_by_processor_time(caller, (flags & absolute) != 0 ? given : later(now, given));
  static_cast<void>(caller.thread.take_kept_deadline());  // it is the same
  return sleep_until(caller, caller.kernel.now() + (given - now), {});
}

// The wall clock is the machine's: it was read at boot, and the program may not set it. As Linux answers one that lacks
// CAP_SYS_TIME.
Answer<void> set_time(Caller&, Clock clock, UserPointer<TimeSpecification> time) {
  if (clock != Clock::real_time) return Errno::einval;
  const TimeSpecification specification = TRY(time.read());
  TRY(specification.nanoseconds());
  return Errno::eperm;
}
Answer<void> set_time_of_day(Caller&, UserPointer<TimeValue> time, UserPointer<std::uint64_t> zone) {
  if (!time.is_null()) {
    const TimeValue value = TRY(time.read());
    if (value.seconds < 0 || value.microsecond_part < 0 || value.microsecond_part > 1'000'000) return Errno::einval;
  }
  if (!zone.is_null()) TRY(zone.read());
  return Errno::eperm;
}

constexpr SystemCall rows[] = {
    system_call<&get_time>("clock_gettime"),
    system_call<&get_resolution>("clock_getres"),
    system_call<&get_time_of_day>("gettimeofday"),
    system_call<&get_seconds>("time"),
    system_call<&set_time>("clock_settime"),
    system_call<&set_time_of_day>("settimeofday"),
    system_call<&sleep>("nanosleep"),
    system_call<&sleep_by>("clock_nanosleep"),
};

}  // namespace

std::span<const SystemCall> time_calls() { return rows; }

}  // namespace ingot::os
