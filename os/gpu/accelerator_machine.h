// AcceleratorMachine: all that the accelerator's logic asks of what is around it. The kernel has one, and so has every
// test, whose worker does what is asked while somebody waits.
#pragma once

#include <cstdint>

#include "base/units.h"

namespace ingot::os {

class AcceleratorMachine {
 public:
  virtual Nanoseconds now() = 0;
  // Wakes the worker.
  virtual void ring() = 0;
  // How often the worker rang so far.
  virtual std::uint64_t bells() = 0;
  // Sleeps until there are more than so many, or until the time.
  virtual void wait(std::uint64_t bells, Nanoseconds until) = 0;
  // A number that nobody guesses.
  virtual std::uint64_t random() = 0;
  // So many frames are never given back: the worker may still write to them.
  virtual void retire(std::uint64_t frames) = 0;

 protected:
  ~AcceleratorMachine() = default;
};

}  // namespace ingot::os
