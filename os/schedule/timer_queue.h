// TimerQueue: what shall happen when, on one CPU. The next is found at once, adding is constant, removing logarithmic
// on average.
#pragma once

#include <cstdint>
#include <optional>

#include "base/atomic.h"
#include "base/pairing_heap.h"
#include "base/units.h"
#include "os/schedule/locked.h"

namespace ingot::os {

class Thread;

class Timer : public HeapNode {
 public:
  Nanoseconds deadline() const { return deadline_; }

 protected:
  ~Timer() = default;

 private:
  friend class TimerQueue;

  // Called once, under the queue's lock, with interrupts off: it wakes a thread or schedules a task, no more. A time:
  // it waits for that then.
  virtual std::optional<Nanoseconds> expired() = 0;

  Nanoseconds deadline_;
  std::uint64_t order_ = 0;  // of adding: equal deadlines expire in it
};

// The hardware that interrupts at a time.
class TimerAlarm {
 public:
  // Replaces what was set before. A time that has passed rings at once.
  virtual void ring_at(Nanoseconds time) = 0;

 protected:
  ~TimerAlarm() = default;
};

class TimerQueue {
 public:
  explicit TimerQueue(TimerAlarm& alarm) : state_(LockRank::timers, alarm) {}

  // Precondition: the timer is in no queue.
  void add(Timer& timer, Nanoseconds deadline);
  // False when it has expired already. After the call it does not expire any more, and can be freed.
  bool cancel(Timer& timer);
  // For the alarm's handler: lets all expire that are due, in the order of their deadlines. How many did.
  std::size_t expire(Nanoseconds now);
  std::optional<Nanoseconds> next_deadline();

 private:
  struct Earlier {
    bool operator()(const Timer& left, const Timer& right) const {
      if (left.deadline_ != right.deadline_) return left.deadline_ < right.deadline_;
      return left.order_ < right.order_;
    }
  };
  struct State {
    explicit State(TimerAlarm& ringer) : alarm(ringer) {}
    TimerAlarm& alarm;
    PairingHeap<Timer, Earlier> heap;
    std::uint64_t added = 0;
  };
  static void insert(State& state, Timer& timer, Nanoseconds deadline);

  Locked<State, SharedWith::interrupts> state_;
};

// Deadline: wakes the thread that made it at a time, unless it ends before. What timed waiting is made of.
class Deadline : private Timer {
 public:
  explicit Deadline(Nanoseconds time);  // by this CPU's timers, the only ones whose alarm this CPU can set
  // Afterwards the thread can go to sleep for something else: no wake-up is under way, not even on another CPU.
  ~Deadline() { timers_.cancel(*this); }

  // Between Thread::prepare_to_block and Scheduler::block, so that a time that has passed is no wake-up lost. Once.
  void arm();
  bool passed() const { return passed_.load(MemoryOrder::acquire); }

 private:
  std::optional<Nanoseconds> expired() override;

  TimerQueue& timers_;
  Nanoseconds time_;
  Thread& thread_;
  bool armed_ = false;
  Atomic<bool> passed_;
};

}  // namespace ingot::os
