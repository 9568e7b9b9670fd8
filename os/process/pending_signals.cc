#include "os/process/pending_signals.h"

#include <memory>

namespace ingot::os {

void PendingSignals::give_back(QueuedSignal& signal) {
  if (Allocator* const heap = signal.heap) {
    std::destroy_at(&signal);
    heap->free(&signal, sizeof(QueuedSignal), alignof(QueuedSignal));
  }
}

void PendingSignals::add(QueuedSignal& signal) {
  const Signal number = signal.information.signal();
  if (set_.has(number) && !queues(number)) return give_back(signal);
  set_.add(number);
  queue_.push_back(signal);
}

std::uint32_t PendingSignals::take(Signal signal, SignalInformation& information) {
  information = SignalInformation::of(signal, signal_code::by_kill);
  bool found = false;
  std::uint32_t timer = 0;
  set_.remove(signal);
  for (QueuedSignal* queued = queue_.first(); queued != nullptr;) {
    QueuedSignal& candidate = *queued;
    queued = queue_.after(candidate);
    if (candidate.information.signal() != signal) continue;
    if (found) {
      set_.add(signal);  // one more of it
      break;
    }
    found = true;
    information = candidate.information;
    timer = candidate.timer;
    queue_.remove(candidate);
    give_back(candidate);
  }
  return timer;
}

void PendingSignals::forget(SignalSet signals) {
  set_ = set_ & ~signals;
  for (QueuedSignal* queued = queue_.first(); queued != nullptr;) {
    QueuedSignal& candidate = *queued;
    queued = queue_.after(candidate);
    if (!signals.has(candidate.information.signal())) continue;
    queue_.remove(candidate);
    give_back(candidate);
  }
}

bool PendingSignals::remove(QueuedSignal& signal) {
  bool found = false, more = false;
  for (const QueuedSignal& other : queue_) {
    if (&other == &signal) {
      found = true;
    } else if (other.information.number == signal.information.number) {
      more = true;
    }
  }
  if (!found) return false;
  queue_.remove(signal);
  if (!more) set_.remove(signal.information.signal());
  return true;
}

}  // namespace ingot::os
