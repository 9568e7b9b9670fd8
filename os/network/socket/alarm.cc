#include "os/network/socket/alarm.h"

#include "os/schedule/scheduler.h"
#include "os/schedule/sleep.h"
#include "os/schedule/wait_queue.h"

namespace ingot::os::network {

void Alarm::ring_at(Nanoseconds time) {
  if (timers_ != nullptr && time_ <= time) return;
  clear();
  time_ = time;
  timers_ = &current_timers();
  timers_->add(*this, time);
}

void Alarm::clear() {
  if (timers_ != nullptr) timers_->cancel(*this);
  timers_ = nullptr;
}

// Under the lock of a CPU's timers: no lock but the scheduler's may be taken.
std::optional<Nanoseconds> Alarm::expired() {
  rang_.store(true, MemoryOrder::sequentially_consistent);
  if (Thread* const sleeper = sleeper_.load(MemoryOrder::sequentially_consistent)) current_scheduler().wake(*sleeper);
  return {};
}

// It announces its sleep and looks once more, the alarm rings and then looks for a sleeper: one sees the other.
void Alarm::wait() {
  sleeper_.store(&current_thread(), MemoryOrder::sequentially_consistent);
  while (!rang_.exchange(false, MemoryOrder::sequentially_consistent)) {
    current_thread().prepare_to_block();
    if (rang_.load(MemoryOrder::sequentially_consistent)) wake_current_thread();
    block_current_thread();
  }
  sleeper_.store(nullptr, MemoryOrder::sequentially_consistent);
}

}  // namespace ingot::os::network
