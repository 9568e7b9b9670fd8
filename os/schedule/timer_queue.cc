#include "os/schedule/timer_queue.h"

#include <utility>

namespace ingot::os {

bool TimerQueue::before(const Timer& left, const Timer& right) {
  if (left.deadline_ != right.deadline_) return left.deadline_ < right.deadline_;
  return left.order_ < right.order_;
}

// Of two heaps the later root becomes the first child of the earlier one.
Timer* TimerQueue::meld(Timer* left, Timer* right) {
  if (left == nullptr) return right;
  if (right == nullptr) return left;
  if (before(*right, *left)) std::swap(left, right);
  right->next_ = left->child_;
  if (left->child_ != nullptr) left->child_->previous_ = right;
  right->previous_ = left;
  left->child_ = right;
  return left;
}

// The children of a removed root: in pairs from left to right, then the pairs from right to left. The bounds need both.
Timer* TimerQueue::meld_siblings(Timer* first) {
  Timer* pairs = nullptr;
  while (first != nullptr) {
    Timer* second = first->next_;
    Timer* rest = second != nullptr ? second->next_ : nullptr;
    first->next_ = first->previous_ = nullptr;
    if (second != nullptr) second->next_ = second->previous_ = nullptr;
    Timer* pair = meld(first, second);
    pair->next_ = pairs;
    pairs = pair;
    first = rest;
  }
  Timer* whole = nullptr;
  while (pairs != nullptr) {
    Timer* pair = std::exchange(pairs, pairs->next_);
    pair->next_ = nullptr;
    whole = meld(whole, pair);
  }
  return whole;
}

void TimerQueue::remove(State& state, Timer& timer) {
  if (&timer == state.first) {
    state.first = meld_siblings(timer.child_);
  } else {
    Timer*& link = timer.previous_->child_ == &timer ? timer.previous_->child_ : timer.previous_->next_;
    link = timer.next_;
    if (timer.next_ != nullptr) timer.next_->previous_ = timer.previous_;
    state.first = meld(state.first, meld_siblings(timer.child_));
  }
  timer.child_ = timer.next_ = timer.previous_ = nullptr;
  timer.pending_ = false;
}

void TimerQueue::insert(State& state, Timer& timer, Nanoseconds deadline) {
  if (timer.pending_) __builtin_trap();
  // Before the clock began is at once: the alarm's hardware counts no such time, and would keep all others waiting.
  timer.deadline_ = deadline.count() < 0 ? Nanoseconds() : deadline;
  timer.order_ = state.added++;
  timer.pending_ = true;
  state.first = meld(state.first, &timer);
}

void TimerQueue::add(Timer& timer, Nanoseconds deadline) {
  state_.with([&](State& state) {
    insert(state, timer, deadline);
    if (state.first == &timer) state.alarm.ring_at(timer.deadline_);
  });
}

bool TimerQueue::cancel(Timer& timer) {
  return state_.with([&](State& state) {
    if (!timer.pending_) return false;
    remove(state, timer);  // the alarm may ring for nothing; that is cheaper than setting it again
    return true;
  });
}

std::size_t TimerQueue::expire(Nanoseconds now) {
  return state_.with([&](State& state) {
    std::size_t count = 0;
    while (state.first != nullptr && state.first->deadline_ <= now) {
      Timer& due = *state.first;
      remove(state, due);
      // Unless it goes on, it may be gone after this.
      if (const std::optional<Nanoseconds> again = due.expired()) insert(state, due, *again);
      ++count;
    }
    if (state.first != nullptr) state.alarm.ring_at(state.first->deadline_);
    return count;
  });
}

std::optional<Nanoseconds> TimerQueue::next_deadline() {
  return state_.with(
      [](State& state) { return state.first != nullptr ? std::optional(state.first->deadline_) : std::nullopt; });
}

}  // namespace ingot::os
