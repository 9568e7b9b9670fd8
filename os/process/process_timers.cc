#include "os/process/process_timers.h"

#include <algorithm>
#include <memory>

#include "os/boot/kernel.h"
#include "os/process/process.h"
#include "os/schedule/sleep.h"

namespace ingot::os {

namespace {

constexpr Nanoseconds none{};
// Between an arrival and the next: with less a program would do nothing but handle its signals.
constexpr Nanoseconds least_gap{1'000'000}, least_processor_gap{4'000'000};
// As long as no CPU needs to look; sums with it do not overflow either.
constexpr Nanoseconds longest_processor_gap{3'600'000'000'000};
// Seventy years are as good as never, and sums with them do not overflow.
constexpr Nanoseconds longest_interval{std::int64_t{1} << 61};

// How many of its times have come, from the next one on.
std::int64_t times_come(const SignalTimerSetting& it, Nanoseconds now) {
  if (it.next == none || now < it.next) return 0;
  return it.interval == none ? 1 : (now - it.next).count() / it.interval.count() + 1;
}

}  // namespace

SignalTimer::~SignalTimer() {
  if (queue_ != nullptr) queue_->cancel(*this);
  process_.withdraw(signal);
}

Nanoseconds SignalTimer::now() {
  if (clock == Clock::process_time) return process_.processor_time();
  if (clock == Clock::thread_time) return process_.processor_time_of(clock_thread);
  return process_.kernel().now();
}

// When its time may have come; nothing: it has.
std::optional<Nanoseconds> SignalTimer::next_look() {
  if (!goes_by_processor_time()) return {};
  const std::int64_t left = (setting_.next - now()).count();
  if (left <= 0) return {};
  const std::int64_t cpus = clock == Clock::process_time ? process_.kernel().scheduler.processor_count() : 1;
  const Nanoseconds fair_share = least_processor_gap * (1 + process_.timers().count());
  return process_.kernel().now() + std::clamp(Nanoseconds(left / cpus), fair_share, longest_processor_gap);
}

void SignalTimer::arm() {
  if (setting_.next == none || is_silent) return;
  queue_ = &current_timers();
  queue_->add(*this, goes_by_processor_time() ? next_look().value_or(none) : setting_.next);
}

std::optional<Nanoseconds> SignalTimer::expired() {
  const std::optional<Nanoseconds> later = next_look();
  if (!later) process_.post(signal, thread);
  return later;
}

SignalTimerSetting SignalTimer::set(SignalTimerSetting setting, Nanoseconds now) {
  const SignalTimerSetting before = left(now);
  if (queue_ != nullptr) queue_->cancel(*this);
  setting_ = setting;
  if (setting_.interval > longest_interval) setting_.interval = longest_interval;
  overruns = 0;
  arm();
  return before;
}

SignalTimerSetting SignalTimer::left(Nanoseconds now) const {
  if (setting_.next == none) return {none, setting_.interval};
  const std::int64_t come = times_come(setting_, now);
  if (come != 0 && setting_.interval == none) return {none, none};
  return {setting_.next + setting_.interval * come - now, setting_.interval};
}

std::uint32_t SignalTimer::arrived(Nanoseconds now) {
  if (times_come(setting_, now) == 0) return 0;  // set anew since
  // Those that would come too soon are passed over as well.
  const Nanoseconds gap = goes_by_processor_time() ? least_processor_gap : least_gap;
  const std::int64_t come = times_come(setting_, setting_.interval < gap ? now + gap : now);
  if (queue_ != nullptr) queue_->cancel(*this);
  setting_.next = setting_.interval == none ? none : setting_.next + setting_.interval * come;
  overruns = static_cast<std::uint32_t>(come - 1);
  arm();
  return overruns;
}

ProcessTimers::ProcessTimers(Process& process)
    : process_(process),
      lock_(LockRank::program_memory),
      fixed_{{process, 1, SignalInformation::of(Signal::alarm, signal_code::by_kernel)},
             {process, 2, SignalInformation::of(Signal::virtual_alarm, signal_code::by_kernel)},
             {process, 3, SignalInformation::of(Signal::profile_alarm, signal_code::by_kernel)},
             {process, processor_limit, SignalInformation::of(Signal::processor_limit, signal_code::by_kernel)},
             {process, processor_end, SignalInformation::of(Signal::kill, signal_code::by_kernel)}} {
  for (SignalTimer& timer : fixed_) {
    if (timer.signal.timer != interval_timer) timer.clock = SignalTimer::Clock::process_time;
  }
}

ProcessTimers::~ProcessTimers() {
  while (SignalTimer* timer = created_.first()) static_cast<void>(remove(timer->signal.timer));
}

SignalTimer* ProcessTimers::find(std::uint32_t name) {
  if (name != 0 && name < first_created) return &fixed_[name - 1];
  for (SignalTimer& timer : created_) {
    if (timer.signal.timer == name) return &timer;
  }
  return nullptr;
}

Answer<std::uint32_t> ProcessTimers::create(const SignalInformation& information) {
  const MutexGuard guard(lock_);
  if (count() == most) return Errno::eagain;
  void* block = TRY(process_.kernel().memory->heap().allocate(sizeof(SignalTimer), alignof(SignalTimer)));
  auto& timer = *std::construct_at(static_cast<SignalTimer*>(block), process_, next_name_++, information);
  created_.push_back(timer);
  count_.fetch_add(1, MemoryOrder::relaxed);
  return timer.signal.timer;
}

Answer<void> ProcessTimers::remove(std::uint32_t name) {
  const MutexGuard guard(lock_);
  SignalTimer* const timer = name >= first_created ? find(name) : nullptr;
  if (timer == nullptr) return Errno::einval;
  created_.remove(*timer);
  count_.fetch_subtract(1, MemoryOrder::relaxed);
  std::destroy_at(timer);
  process_.kernel().memory->heap().free(timer, sizeof(SignalTimer), alignof(SignalTimer));
  return {};
}

void ProcessTimers::arrived(std::uint32_t name, SignalInformation& information) {
  const MutexGuard guard(lock_);
  SignalTimer* const timer = find(name);
  if (timer == nullptr) return;
  const std::uint64_t overruns = timer->arrived(timer->now());
  if (name >= first_created) information.fields[0] |= overruns << 32;
}

void ProcessTimers::go_on() {
  const MutexGuard guard(lock_);
  const auto look = [&](SignalTimer& timer) {
    const Nanoseconds now = timer.now();
    if (timer.is_stranded(now)) timer.arrived(now);
  };
  for (SignalTimer& timer : fixed_) look(timer);
  for (SignalTimer& timer : created_) look(timer);
}

void ProcessTimers::limit_processor_time(std::uint64_t seconds, std::uint64_t last_second) {
  const MutexGuard guard(lock_);
  const auto set = [&](std::uint32_t name, std::uint64_t from, Nanoseconds interval) {
    SignalTimer& timer = *find(name);
    const bool is_limited = from <= static_cast<std::uint64_t>(longest_interval.count()) / 1'000'000'000;
    // None at all is as soon as it can be told.
    const Nanoseconds next(is_limited ? std::max<std::int64_t>(static_cast<std::int64_t>(from) * 1'000'000'000, 1) : 0);
    timer.set({next, interval}, timer.now());
  };
  set(processor_limit, seconds, Nanoseconds(1'000'000'000));
  set(processor_end, last_second, none);
}

}  // namespace ingot::os
