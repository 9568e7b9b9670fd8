// Timers that send signals (man 2 setitimer, timer_create).
#include "os/boot/kernel.h"
#include "os/process/process.h"
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

// Timers of the time that CPUs spend would have to interrupt every program that runs.
Answer<void> check_which(Caller& caller, std::uint32_t which) {
  constexpr std::uint32_t real = 0, profile = 2;
  if (which == real) return {};
  if (which <= profile) {
    caller.kernel.log.warning(
        "setitimer: expected ITIMER_REAL, found a timer of CPU time, which there is none of: EINVAL");
  }
  return Errno::einval;
}

Answer<SignalTimerSetting> set_interval_timer(Caller& caller, SignalTimerSetting setting) {
  const Nanoseconds now = caller.kernel.now();
  if (setting.next != Nanoseconds()) setting.next = later(now, setting.next);
  return caller.process.timers().with(
      ProcessTimers::interval_timer,
      [&](SignalTimer& timer) -> Answer<SignalTimerSetting> { return timer.set(setting, now); });
}
Answer<void> set_interval(Caller& caller, std::uint32_t which, UserPointer<IntervalValue> wanted,
                          UserPointer<IntervalValue> before) {
  TRY(check_which(caller, which));
  IntervalValue value{};
  if (!wanted.is_null()) value = TRY(wanted.read());
  SignalTimerSetting setting;
  setting.next = TRY(value.next.nanoseconds());
  setting.interval = TRY(value.interval.nanoseconds());
  const SignalTimerSetting old = TRY(set_interval_timer(caller, setting));
  return before.write_if_wanted(value_of(old));
}
Answer<void> get_interval(Caller& caller, std::uint32_t which, UserPointer<IntervalValue> place) {
  TRY(check_which(caller, which));
  const SignalTimerSetting left = TRY(caller.process.timers().with(
      ProcessTimers::interval_timer,
      [&](SignalTimer& timer) -> Answer<SignalTimerSetting> { return timer.left(caller.kernel.now()); }));
  return place.write(value_of(left));
}
// The seconds that were left, rounded, but never to "none".
Answer<std::uint32_t> set_alarm(Caller& caller, std::uint32_t seconds) {
  const SignalTimerSetting old =
      TRY(set_interval_timer(caller, {Nanoseconds(std::int64_t{seconds} * 1'000'000'000), Nanoseconds()}));
  const std::int64_t left = old.next.count();
  if (left == 0) return 0u;
  const std::int64_t rounded = (left + 500'000'000) / 1'000'000'000;
  return static_cast<std::uint32_t>(rounded != 0 ? rounded : 1);
}

// Programs count them from 0, the process from another number on.
constexpr std::uint32_t first_name = ProcessTimers::interval_timer + 1;

Answer<void> create_timer(Caller& caller, std::uint32_t clock, UserPointer<SignalEvent> wanted,
                          UserPointer<std::int32_t> place) {
  constexpr std::uint32_t realtime = 0, monotonic = 1, process_time = 2, thread_time = 3, boot_time = 7;
  if (clock == process_time || clock == thread_time || static_cast<std::int32_t>(clock) < 0) {
    caller.kernel.log.warning("timer_create: expected a clock of time, found one of CPU time: EOPNOTSUPP");
    return Errno::eopnotsupp;
  }
  if (clock != realtime && clock != monotonic && clock != boot_time) return Errno::einval;
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
  const std::uint32_t name =
      TRY(caller.process.timers().create(information, to_thread ? static_cast<std::uint32_t>(event.thread) : 0,
                                         event.how == SignalEvent::none, clock == realtime));
  const std::uint32_t number = name - first_name;
  TRY(caller.process.timers().with(name, [&](SignalTimer& timer) -> Answer<void> {
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
  constexpr std::uint32_t absolute = 1;
  const IntervalSpecification specification = TRY(wanted.read());
  SignalTimerSetting setting;
  setting.next = TRY(specification.next.nanoseconds());
  setting.interval = TRY(specification.interval.nanoseconds());
  const SignalTimerSetting old =
      TRY(caller.process.timers().with(number + first_name, [&](SignalTimer& timer) -> Answer<SignalTimerSetting> {
        const Nanoseconds now = caller.kernel.now();
        if (setting.next != Nanoseconds()) {
          if ((flags & absolute) == 0) {
            setting.next = later(now, setting.next);
          } else if (timer.by_wall_clock) {
            setting.next = now + (setting.next - caller.kernel.wall_time());
          }
          if (setting.next.count() <= 0) setting.next = Nanoseconds(1);  // long ago is at once
        }
        return timer.set(setting, now);
      }));
  return before.write_if_wanted(specification_of(old));
}
Answer<void> get_timer(Caller& caller, std::uint32_t number, UserPointer<IntervalSpecification> place) {
  const SignalTimerSetting left =
      TRY(caller.process.timers().with(number + first_name, [&](SignalTimer& timer) -> Answer<SignalTimerSetting> {
        return timer.left(caller.kernel.now());
      }));
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
