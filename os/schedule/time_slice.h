// TimeSlice: how long the program that runs on a CPU may keep it while other threads wait there.
#pragma once

#include "os/schedule/timer_queue.h"

namespace ingot::os {

// Only its own CPU touches it, with interrupts off.
class TimeSlice : private Timer {
 public:
  bool is_running() const { return state_ == State::runs; }
  bool has_ended() const { return state_ == State::ended; }
  void begin(TimerQueue& timers, Nanoseconds end) {
    state_ = State::runs;
    timers.add(*this, end);
  }
  void reset() { state_ = State::none; }

 private:
  enum class State : std::uint8_t { none, runs, ended };
  // The interrupted program gives its CPU up before it goes on.
  std::optional<Nanoseconds> expired() override {
    state_ = State::ended;
    return {};
  }

  State state_ = State::none;
};

}  // namespace ingot::os
