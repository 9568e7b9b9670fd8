// PendingSignals: what was sent and has not arrived yet, to one thread or to a whole program. It has no lock of its
// own.
#pragma once

#include <cstddef>

#include "base/intrusive_list.h"
#include "os/memory/allocator.h"
#include "os/process/signal.h"

namespace ingot::os {

// A signal under way. Who may send from an interrupt handler owns one beforehand; the others' are on the heap.
struct QueuedSignal : ListLink<struct PendingSignalsTag> {
  QueuedSignal(const SignalInformation& what, Allocator* where) : information(what), heap(where) {}

  SignalInformation information;
  Allocator* heap;          // none: its sender's own, who has it back when it has arrived
  std::uint32_t timer = 0;  // that sent it, and wants to know when it arrives; 0: none
};

class PendingSignals {
 public:
  ~PendingSignals() { forget(~SignalSet()); }
  SignalSet set() const { return set_; }

  // One that waits already and does not queue is lost.
  void add(QueuedSignal& signal);
  // Without what comes along: where there was no memory for it.
  void add_bare(Signal signal) { set_.add(signal); }
  // Precondition: the set has it. The timer that sent it; 0: none.
  std::uint32_t take(Signal signal, SignalInformation& information);
  void forget(SignalSet signals);
  // Before its sender goes. False: it is not here.
  bool remove(QueuedSignal& signal);

 private:
  static void give_back(QueuedSignal& signal);

  SignalSet set_;
  IntrusiveList<QueuedSignal, PendingSignalsTag> queue_;
};

}  // namespace ingot::os
