// Timers that send signals (man 2 setitimer, timer_create).
#include "os/boot/kernel.h"
#include "os/process/process.h"
#include "os/syscall/clocks.h"
#include "os/syscall/signal_event.h"
#include "os/syscall/table.h"
#include "os/syscall/time_values.h"

namespace ingot::os {

namespace {

// struct itimerval, struct itimerspec.
struct IntervalValue {
  TimeValue interval, next;
};
struct IntervalSpecification {
  TimeSpecification interval, next;
};

IntervalValue value_of(const SignalTimerSetting& it) { return {TimeValue::of(it.interval), TimeValue::of(it.next)}; }

// ITIMER_REAL; ITIMER_VIRTUAL, ITIMER_PROF: both go by all CPU time, for that of the kernel is not counted apart.
Answer<std::uint32_t> name_of_interval(std::uint32_t which) {
  return which < ProcessTimers::interval_timer_count ? Answer(ProcessTimers::interval_timer + which) : Errno::einval;
}

Answer<SignalTimerSetting> set_interval_timer(Caller& caller, std::uint32_t name, SignalTimerSetting setting) {
  return caller.process.timers().with(name, [&](SignalTimer& timer) -> Answer<SignalTimerSetting> {
    const Nanoseconds now = timer.now();
    if (setting.next != Nanoseconds()) setting.next = later(now, setting.next);
    return timer.set(setting, now);
  });
}
Answer<void> set_interval(Caller& caller, std::uint32_t which, UserPointer<IntervalValue> wanted,
                          UserPointer<IntervalValue> before) {
  const std::uint32_t name = TRY(name_of_interval(which));
  IntervalValue value{};
  if (!wanted.is_null()) value = TRY(wanted.read());
  SignalTimerSetting setting;
  setting.next = TRY(value.next.nanoseconds());
  setting.interval = TRY(value.interval.nanoseconds());
  const SignalTimerSetting old = TRY(set_interval_timer(caller, name, setting));
  return before.write_if_wanted(value_of(old));
}
Answer<void> get_interval(Caller& caller, std::uint32_t which, UserPointer<IntervalValue> place) {
  const std::uint32_t name = TRY(name_of_interval(which));
  const SignalTimerSetting left = TRY(caller.process.timers().with(
      name, [&](SignalTimer& timer) -> Answer<SignalTimerSetting> { return timer.left(timer.now()); }));
  return place.write(value_of(left));
}
// The seconds that were left, rounded, but never to "none".
Answer<std::uint32_t> set_alarm(Caller& caller, std::uint32_t seconds) {
  const SignalTimerSetting old = TRY(set_interval_timer(
      caller, ProcessTimers::interval_timer, {Nanoseconds(std::int64_t{seconds} * 1'000'000'000), Nanoseconds()}));
  const std::int64_t left = old.next.count();
  if (left == 0) return 0u;
  const std::int64_t rounded = (left + 500'000'000) / 1'000'000'000;
  return static_cast<std::uint32_t>(rounded != 0 ? rounded : 1);
}

// Programs count them from 0, the process from another number on.
constexpr std::uint32_t first_name = ProcessTimers::first_created;

struct TimerClockChoice {
  SignalTimer::Clock clock = SignalTimer::Clock::monotonic;
  std::uint32_t thread = 0;
};
Answer<TimerClockChoice> choose_clock(Caller& caller, Clock clock) {
  switch (clock) {
    case Clock::real_time: return TimerClockChoice{SignalTimer::Clock::wall, 0};
    case Clock::monotonic:
    case Clock::boot_time: return TimerClockChoice{SignalTimer::Clock::monotonic, 0};
    default: break;
  }
  const std::optional<ProcessorClock> own = TRY(processor_clock(caller, clock));
  if (!own) return Errno::einval;
  if (own->thread == 0) return TimerClockChoice{SignalTimer::Clock::process_time, 0};
  return TimerClockChoice{SignalTimer::Clock::thread_time, own->thread};
}

Answer<void> create_timer(Caller& caller, Clock clock, UserPointer<SignalEvent> wanted,
                          UserPointer<std::int32_t> place) {
  const TimerClockChoice choice = TRY(choose_clock(caller, clock));
  SignalEvent event{};
  event.number = static_cast<std::int32_t>(Signal::alarm);
  if (!wanted.is_null()) event = TRY(wanted.read());
  const bool to_thread = (event.how & SignalEvent::send_to_thread) != 0;
  if ((event.how & ~SignalEvent::send_to_thread) == SignalEvent::none && !to_thread) {
    event.number = static_cast<std::int32_t>(Signal::alarm);
  } else if ((event.how & ~SignalEvent::send_to_thread) != SignalEvent::send ||
             !is_signal(static_cast<std::uint32_t>(event.number))) {
    return Errno::einval;
  }
  if (to_thread) {
    const SignalInformation question;  // the signal 0
    if (event.thread <= 0 || !caller.process.send(question, static_cast<std::uint32_t>(event.thread)).ok()) {
      return Errno::einval;
    }
  }
  SignalInformation information = SignalInformation::of(static_cast<Signal>(event.number), signal_code::by_timer);
  const std::uint32_t name = TRY(caller.process.timers().create(information));
  const std::uint32_t number = name - first_name;
  TRY(caller.process.timers().with(name, [&](SignalTimer& timer) -> Answer<void> {
    timer.thread = to_thread ? static_cast<std::uint32_t>(event.thread) : 0;
    timer.is_silent = event.how == SignalEvent::none;
    timer.clock = choice.clock;
    timer.clock_thread = choice.thread;
    timer.signal.information.fields[0] = number;
    timer.signal.information.fields[1] = wanted.is_null() ? number : event.value;
    return {};
  }));
  if (place.write(static_cast<std::int32_t>(number)).ok()) return {};
  static_cast<void>(caller.process.timers().remove(name));
  return Errno::efault;
}

IntervalSpecification specification_of(const SignalTimerSetting& it) {
  return {TimeSpecification::of(it.interval), TimeSpecification::of(it.next)};
}

Answer<void> set_timer(Caller& caller, std::uint32_t number, std::uint32_t flags,
                       UserPointer<IntervalSpecification> wanted, UserPointer<IntervalSpecification> before) {
  constexpr std::uint32_t absolute = 1;  // TIMER_ABSTIME
  const IntervalSpecification specification = TRY(wanted.read());
  SignalTimerSetting setting;
  setting.next = TRY(specification.next.nanoseconds());
  setting.interval = TRY(specification.interval.nanoseconds());
  const SignalTimerSetting old =
      TRY(caller.process.timers().with(number + first_name, [&](SignalTimer& timer) -> Answer<SignalTimerSetting> {
        const Nanoseconds now = timer.now();
        if (setting.next != Nanoseconds()) {
          if ((flags & absolute) == 0) {
            setting.next = later(now, setting.next);
          } else if (timer.clock == SignalTimer::Clock::wall) {
            setting.next = now + (setting.next - caller.kernel.wall_time());
          }
          if (setting.next.count() <= 0) setting.next = Nanoseconds(1);  // long ago is at once
        }
        return timer.set(setting, now);
      }));
  return before.write_if_wanted(specification_of(old));
}
Answer<void> get_timer(Caller& caller, std::uint32_t number, UserPointer<IntervalSpecification> place) {
  const SignalTimerSetting left = TRY(caller.process.timers().with(
      number + first_name, [&](SignalTimer& timer) -> Answer<SignalTimerSetting> { return timer.left(timer.now()); }));
  return place.write(specification_of(left));
}
Answer<std::uint32_t> get_overruns(Caller& caller, std::uint32_t number) {
  return caller.process.timers().with(number + first_name,
                                      [](SignalTimer& timer) -> Answer<std::uint32_t> { return timer.overruns; });
}
Answer<void> delete_timer(Caller& caller, std::uint32_t number) {
  return caller.process.timers().remove(number + first_name);
}

constexpr SystemCall rows[] = {
    system_call<&set_interval>("setitimer"),
    system_call<&get_interval>("getitimer"),
    system_call<&set_alarm>("alarm"),
    system_call<&create_timer>("timer_create"),
    system_call<&set_timer>("timer_settime"),
    system_call<&get_timer>("timer_gettime"),
    system_call<&get_overruns>("timer_getoverrun"),
    system_call<&delete_timer>("timer_delete"),
};

}  // namespace

std::span<const SystemCall> timer_calls() { return rows; }

}  // namespace ingot::os
