// ProcessTimers: when a program wants to be signalled: the times of setitimer and alarm, those of timer_create, and the
// end of the CPU time that it may have.
#pragma once

#include <cstdint>
#include <optional>

#include "base/intrusive_list.h"
#include "base/units.h"
#include "os/memory/owned.h"
#include "os/process/pending_signals.h"
#include "os/schedule/mutex.h"
#include "os/schedule/timer_queue.h"
#include "os/syscall/errno.h"

namespace ingot::os {

class Process;

struct SignalTimerSetting {
  Nanoseconds next;      // none: it is off
  Nanoseconds interval;  // none: it comes once
};

// One of them. It waits in the timers of the CPU that set it, and its signal is there beforehand: it comes in an
// interrupt. A next time is set only when the signal has arrived, so that a slow program is not flooded; how many times
// were passed over is told instead.
//
// CPU time has no alarm of its own. It passes at most as fast as all CPUs together: a timer of it waits for as long as
// that would take, looks, and waits anew for what is left. All of them together look once in four milliseconds at most,
// which is how often Linux looks.
class SignalTimer final : private Timer, public ListLink<struct SignalTimersTag> {
 public:
  enum class Clock : std::uint8_t { monotonic, wall, process_time, thread_time };

  SignalTimer(Process& owner, std::uint32_t name, const SignalInformation& information)
      : signal(information, nullptr), process_(owner) {
    signal.timer = name;
  }
  SignalTimer(const SignalTimer&) = delete;
  SignalTimer& operator=(const SignalTimer&) = delete;
  ~SignalTimer();

  // Of its own clock, or of the monotonic one instead of the wall's: what all times here are.
  Nanoseconds now();
  // What is left of the setting before, as of `now`.
  SignalTimerSetting set(SignalTimerSetting setting, Nanoseconds now);
  SignalTimerSetting left(Nanoseconds now) const;
  // Its signal was taken: how many times were passed over.
  std::uint32_t arrived(Nanoseconds now);
  // Whether it would come again, and its signal was lost.
  bool is_stranded(Nanoseconds now) const {
    return setting_.next != Nanoseconds() && setting_.next <= now && !signal.is_linked();
  }

  QueuedSignal signal;
  std::uint32_t thread = 0;  // to which it goes; 0: to any
  bool is_silent = false;    // nobody is told: it can only be asked
  Clock clock = Clock::monotonic;
  std::uint32_t clock_thread = 0;  // whose CPU time it goes by
  std::uint32_t overruns = 0;      // of the last that arrived

 private:
  std::optional<Nanoseconds> expired() override;
  void arm();
  bool goes_by_processor_time() const { return clock == Clock::process_time || clock == Clock::thread_time; }
  std::optional<Nanoseconds> next_look();

  Process& process_;
  SignalTimerSetting setting_;
  TimerQueue* queue_ = nullptr;  // where it waits, or did
};

class ProcessTimers {
 public:
  // Names: those of setitimer (ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF), of the limit on CPU time and its end; those
  // of timer_create follow.
  static constexpr std::uint32_t interval_timer = 1, interval_timer_count = 3, processor_limit = 4, processor_end = 5,
                                 first_created = 6;
  static constexpr std::uint32_t most = 1024;

  explicit ProcessTimers(Process& process);
  ~ProcessTimers();

  // use(timer) while nobody else changes it; EINVAL: there is none of that name.
  template <class Use>
  auto with(std::uint32_t name, Use&& use) -> decltype(use(*static_cast<SignalTimer*>(nullptr))) {
    const MutexGuard guard(lock_);
    SignalTimer* const timer = find(name);
    if (timer == nullptr) return Errno::einval;
    return use(*timer);
  }
  // Its name.
  Answer<std::uint32_t> create(const SignalInformation& information);
  Answer<void> remove(std::uint32_t name);
  // The timer's signal was taken: the information tells how often it came.
  void arrived(std::uint32_t name, SignalInformation& information);
  std::uint32_t count() const { return count_.load(MemoryOrder::relaxed); }  // of those that were created
  // Signals that were ignored are not any more.
  void go_on();
  // From so many seconds of CPU time on a signal each second; after so many, the end.
  void limit_processor_time(std::uint64_t seconds, std::uint64_t last_second);

 private:
  SignalTimer* find(std::uint32_t name);

  Process& process_;
  Mutex lock_;
  SignalTimer fixed_[first_created - 1];
  IntrusiveList<SignalTimer, SignalTimersTag> created_;
  std::uint32_t next_name_ = first_created;
  Atomic<std::uint32_t> count_;
};

}  // namespace ingot::os
