// FaultReport: a worker that touches what it must not tells its client where, and ends.
#pragma once

#include "accelerator/client_memory.h"
#include "base/accelerator/rings.h"

namespace ingot {

class FaultReport {
 public:
  // From here on, for the process's life: one of them. What it is given must outlive that.
  static void begin(accelerator::SharedWords shared, const ClientMemory& memory, int fault_bell);

  // Which packet is worked on.
  static void at_packet(std::uint64_t index);
};

}  // namespace ingot
