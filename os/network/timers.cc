#include "os/network/timers.h"

namespace ingot::os::network {

void NetworkTimers::set(NetworkTimer& timer, Nanoseconds time) {
  timer.wanted_ = time;
  // A later time is looked at when the earlier one comes: acknowledgments put timers off far more often than they
  // expire.
  if (timer.is_in_heap() && timer.queued_ <= time) return;
  if (timer.is_in_heap()) heap_.remove(timer);
  timer.queued_ = time;
  heap_.insert(timer);
  if (heap_.first() == &timer) machine_.wake_at(time);
}

void NetworkTimers::clear(NetworkTimer& timer) {
  timer.wanted_ = NetworkTimer::never;
  if (timer.is_in_heap()) heap_.remove(timer);
}

void NetworkTimers::run(Nanoseconds now) {
  while (NetworkTimer* const first = heap_.first()) {
    if (first->queued_ > now) break;
    heap_.remove(*first);
    if (first->wanted_ > now) {
      first->queued_ = first->wanted_;
      heap_.insert(*first);
      continue;
    }
    first->wanted_ = NetworkTimer::never;
    first->expired(now);
  }
  if (const NetworkTimer* next = heap_.first()) machine_.wake_at(next->queued_);
}

}  // namespace ingot::os::network
