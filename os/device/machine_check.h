// Machine checks: the CPU found its own hardware in error, or its memory's. Errors are kept in banks of registers until
// somebody clears them, over a reset, too (SDM volume 3, chapter 16).
#pragma once

#include <cstdint>

#include "base/text.h"

namespace ingot::os {

// On each CPU, before it may be interrupted by one (CR4.MCE): what was found before is forgotten, and every bank
// reports.
void clear_machine_checks();

struct MachineCheckReport {
  FixedText<480> text;       // "machine check: ..." and a part for each bank that holds an error, for panic_in
  std::uint32_t errors = 0;  // 0: it was another CPU's, and this one was only told
};
// What the banks of this CPU hold.
MachineCheckReport read_machine_checks();

}  // namespace ingot::os
