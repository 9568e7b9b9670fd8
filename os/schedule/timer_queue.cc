#include "os/schedule/timer_queue.h"

namespace ingot::os {

void TimerQueue::insert(State& state, Timer& timer, Nanoseconds deadline) {
  // Before the clock began is at once: the alarm's hardware counts no such time, and would keep all others waiting.
  timer.deadline_ = deadline.count() < 0 ? Nanoseconds() : deadline;
  timer.order_ = state.added++;
  state.heap.insert(timer);
}

void TimerQueue::add(Timer& timer, Nanoseconds deadline) {
  state_.with([&](State& state) {
    insert(state, timer, deadline);
    if (state.heap.first() == &timer) state.alarm.ring_at(timer.deadline_);
  });
}

bool TimerQueue::cancel(Timer& timer) {
  return state_.with([&](State& state) {
    if (!timer.is_in_heap()) return false;
    state.heap.remove(timer);  // the alarm may ring for nothing; that is cheaper than setting it again
    return true;
  });
}

std::size_t TimerQueue::expire(Nanoseconds now) {
  return state_.with([&](State& state) {
    std::size_t count = 0;
    while (state.heap.first() != nullptr && state.heap.first()->deadline_ <= now) {
      Timer& due = *state.heap.first();
      state.heap.remove(due);
      // Unless it goes on, it may be gone after this.
      if (const std::optional<Nanoseconds> again = due.expired()) insert(state, due, *again);
      ++count;
    }
    if (const Timer* next = state.heap.first()) state.alarm.ring_at(next->deadline_);
    return count;
  });
}

std::optional<Nanoseconds> TimerQueue::next_deadline() {
  return state_.with([](State& state) {
    const Timer* next = state.heap.first();
    return next != nullptr ? std::optional(next->deadline_) : std::nullopt;
  });
}

}  // namespace ingot::os
