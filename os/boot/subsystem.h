// Subsystem: a part of the kernel that only some images have, for only some programs need it. os/images lists which
// kernel has which; the first thread starts them in that order, before the payload.
//
// What a subsystem grants it announces in its source by a GrantNote in the section .note.ingot, and offers as a device
// (Kernel::program_devices) where the machine has it. Nothing else in the kernel may refer to it: then an image that
// does not list it does not hold a byte of it, which the test os_budgets sees.
#pragma once

#include <string_view>

#include "base/result.h"

namespace ingot::os {

struct Kernel;

struct Subsystem {
  std::string_view name;
  // What it makes lasts as long as the machine runs. A failure is told in the log, and the kernel goes on without.
  Result<void> (*start)(Kernel& kernel);
};

// The image's own, ended by a null. A test's image that defines none has none (no_subsystems.cc).
extern const Subsystem* const linked_subsystems[];

}  // namespace ingot::os
