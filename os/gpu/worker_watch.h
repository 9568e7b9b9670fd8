// WorkerWatch: whether an accelerator's worker is still there. Lost once is lost for ever.
//
// Two things are told apart. It is *lost* when it says that it ended, when its broker says so, or when its heart stands
// still: nothing is asked of it any more. It is *gone* when the broker has said that it was reaped: only then does
// nobody write to the machine's memory.
#pragma once

#include <cstdint>

#include "base/accelerator/layout.h"
#include "base/accelerator/silence.h"
#include "base/units.h"

namespace ingot::os {

class WorkerWatch {
 public:
  // Whoever waits is told of its silence within two seconds.
  static constexpr Nanoseconds look_again = accelerator::Silence::beat, longest_silence{1'800'000'000};

  explicit WorkerWatch(accelerator::SharedWords shared) : shared_(shared) {}

  // By anybody, a handler of interrupts too.
  bool is_gone() const { return shared_.owners_broker().worker_is_gone.load(MemoryOrder::acquire) != 0; }
  bool is_lost() const;

  // Listens to its heart; by one at a time.
  void look(Nanoseconds now);
  // It did not keep to the protocol, or to its time.
  void give_up() { given_up_.store(true, MemoryOrder::release); }

 private:
  accelerator::SharedWords shared_;
  Atomic<bool> given_up_;
  accelerator::Silence silence_;
};

}  // namespace ingot::os
