// Opening what --device names, for commands that take accelerators as well as GPUs.
#pragma once

#include <memory>
#include <string>

#include "machine/accelerator/accelerator_device.h"

namespace ingot {

// The accelerator behind a socket, or the machine's own where there is no path. Fails where its contracts are not this
// program's: they would be refused one by one, each with a riddle.
Result<std::unique_ptr<AcceleratorDevice>> open_accelerator(const std::string& path);

// A GPU, the emulated one, or an accelerator. Precondition: the name is none of the CPU.
Result<std::unique_ptr<Device>> open_place(const std::string& name);

}  // namespace ingot
