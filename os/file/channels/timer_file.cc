#include "os/file/channels/timer_file.h"

#include "os/syscall/time_values.h"

namespace ingot::os {
namespace {

constexpr Nanoseconds none{0};

class ClockTimerFile final : public TimerFile {
 public:
  ClockTimerFile(TimeSource& time, TimerClock clock, std::uint32_t flags)
      : TimerFile(flags | open_flag::read_write), time_(time), clock_(clock), setting_(LockRank::file_pages) {}

  Answer<FileStatus> status() override { return anonymous_status(); }
  std::uint32_t poll() override {
    const Nanoseconds time = now();
    return setting_.with([&](TimerSetting& it) { return times_come(it, time) != 0 ? poll_event::readable : 0u; });
  }
  PollSource* poll_source() override { return &source_; }
  std::optional<Nanoseconds> ready_at() override {
    const Nanoseconds next = setting_.with([](TimerSetting& it) { return it.next; });
    if (next == none) return {};
    return clock_ == TimerClock::monotonic ? next : next - (time_.realtime() - time_.monotonic());
  }
  std::string_view anonymous_name() const override { return "anon_inode:[timerfd]"; }
  TimerFile* as_timer() override { return this; }

 private:
  Nanoseconds now() { return clock_ == TimerClock::monotonic ? time_.monotonic() : time_.realtime(); }
  static std::uint64_t times_come(const TimerSetting& it, Nanoseconds time) {
    if (it.next == none || time < it.next) return 0;
    if (it.interval == none) return 1;
    return static_cast<std::uint64_t>((time - it.next).count() / it.interval.count()) + 1;
  }
  // Past times count as having come; with none left the timer is off.
  static void go_on(TimerSetting& it, std::uint64_t come) {
    if (come == 0) return;
    it.next = it.interval == none ? none : later(it.next, it.interval * static_cast<std::int64_t>(come));
  }

  TimerSetting exchange(const TimerSetting* setting, Start start) override {
    const Nanoseconds time = now();
    const TimerSetting before = setting_.with([&](TimerSetting& it) {
      const TimerSetting old = it;
      if (setting == nullptr) return old;
      it = *setting;
      if (start == Start::relative && it.next != none) it.next = later(time, it.next);
      return old;
    });
    if (setting != nullptr) source_.notify(poll_event::readable);
    if (before.next == none) return {none, before.interval};
    TimerSetting shown = before;
    go_on(shown, times_come(before, time));
    if (shown.next != none) shown.next = shown.next - time;
    return shown;
  }

  Answer<std::size_t> read_bytes(Transfer& to) override {
    if (to.left() < sizeof(std::uint64_t)) return Errno::einval;
    const Nanoseconds time = now();
    const std::uint64_t come = setting_.with([&](TimerSetting& it) {
      const std::uint64_t times = times_come(it, time);
      go_on(it, times);
      return times;
    });
    if (come == 0) return Errno::eagain;
    source_.notify(poll_event::readable);  // who waits learns of the next time
    return to.give(std::as_bytes(std::span(&come, 1)));
  }

  TimeSource& time_;
  TimerClock clock_;
  Locked<TimerSetting> setting_;
  PollSource source_;
};

}  // namespace

Answer<Reference<FileDescription>> TimerFile::create(Allocator& heap, TimeSource& time, TimerClock clock,
                                                     std::uint32_t flags) {
  return Reference<FileDescription>(TRY(make_reference<ClockTimerFile>(heap, time, clock, flags)));
}

TimerSetting TimerFile::set(TimerSetting setting, Start start) { return exchange(&setting, start); }
TimerSetting TimerFile::get() { return exchange(nullptr, Start::absolute); }

}  // namespace ingot::os
