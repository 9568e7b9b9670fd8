#include "os/process/process_timers.h"

#include <memory>

#include "os/boot/kernel.h"
#include "os/process/process.h"
#include "os/schedule/sleep.h"

namespace ingot::os {

namespace {

constexpr Nanoseconds none{};
// Between an arrival and the next: with less a program would do nothing but handle its signals.
constexpr Nanoseconds least_gap{1'000'000};
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

void SignalTimer::arm() {
  if (setting_.next == none || is_silent) return;
  queue_ = &current_timers();
  queue_->add(*this, setting_.next);
}

void SignalTimer::expired() { process_.post(signal, thread); }

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
  const std::int64_t come = times_come(setting_, setting_.interval < least_gap ? now + least_gap : now);
  if (queue_ != nullptr) queue_->cancel(*this);
  setting_.next = setting_.interval == none ? none : setting_.next + setting_.interval * come;
  overruns = static_cast<std::uint32_t>(come - 1);
  arm();
  return overruns;
}

ProcessTimers::ProcessTimers(Process& process)
    : process_(process),
      lock_(LockRank::program_memory),
      interval_(process, interval_timer, SignalInformation::of(Signal::alarm, signal_code::by_kernel)) {}

ProcessTimers::~ProcessTimers() {
  while (SignalTimer* timer = created_.first()) static_cast<void>(remove(timer->signal.timer));
}

SignalTimer* ProcessTimers::find(std::uint32_t name) {
  if (name == interval_timer) return &interval_;
  for (SignalTimer& timer : created_) {
    if (timer.signal.timer == name) return &timer;
  }
  return nullptr;
}

Answer<std::uint32_t> ProcessTimers::create(const SignalInformation& information, std::uint32_t thread, bool is_silent,
                                            bool by_wall_clock) {
  const MutexGuard guard(lock_);
  if (count_ == most) return Errno::eagain;
  void* block = TRY(process_.kernel().memory->heap().allocate(sizeof(SignalTimer), alignof(SignalTimer)));
  auto& timer = *std::construct_at(static_cast<SignalTimer*>(block), process_, next_name_++, information);
  timer.thread = thread;
  timer.is_silent = is_silent;
  timer.by_wall_clock = by_wall_clock;
  created_.push_back(timer);
  ++count_;
  return timer.signal.timer;
}

Answer<void> ProcessTimers::remove(std::uint32_t name) {
  const MutexGuard guard(lock_);
  SignalTimer* const timer = name != interval_timer ? find(name) : nullptr;
  if (timer == nullptr) return Errno::einval;
  created_.remove(*timer);
  --count_;
  std::destroy_at(timer);
  process_.kernel().memory->heap().free(timer, sizeof(SignalTimer), alignof(SignalTimer));
  return {};
}

void ProcessTimers::arrived(std::uint32_t name, SignalInformation& information) {
  const MutexGuard guard(lock_);
  SignalTimer* const timer = find(name);
  if (timer == nullptr) return;
  const std::uint64_t overruns = timer->arrived(process_.kernel().now());
  if (name != interval_timer) information.fields[0] |= overruns << 32;
}

void ProcessTimers::go_on() {
  const MutexGuard guard(lock_);
  const Nanoseconds now = process_.kernel().now();
  const auto look = [&](SignalTimer& timer) {
    if (timer.is_stranded(now)) timer.arrived(now);
  };
  look(interval_);
  for (SignalTimer& timer : created_) look(timer);
}

}  // namespace ingot::os
