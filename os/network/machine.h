// Machine: all that the network's logic asks of what is around it. The kernel has one, and so has every test, whose
// clock stands until it is told to go on.
#pragma once

#include <cstddef>
#include <span>

#include "base/units.h"
#include "os/network/block.h"

namespace ingot::os::network {

class Machine {
 public:
  virtual Nanoseconds now() = 0;
  virtual void fill_random(std::span<std::byte> bytes) = 0;
  // Memory for packets and what is remembered of peers; it is charged, and may be refused.
  virtual HeapBlocks& blocks() = 0;
  // Stack::run_timers is wanted at this time, or earlier; an earlier wish stands. Called often: it costs little.
  virtual void wake_at(Nanoseconds time) = 0;

 protected:
  ~Machine() = default;
};

}  // namespace ingot::os::network
