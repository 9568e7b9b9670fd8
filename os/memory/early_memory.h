// Memory for what must exist before the frame allocator does, taken out of the boot map itself.
#pragma once

#include <cstdint>

#include "os/boot/memory_map.h"

namespace ingot::os {

// The highest whole frames of usable memory below `limit`, rounded up to full frames; the map lists them as `kernel`
// from now on. From the top, because low memory is what devices may need.
Result<PhysicalAddress> take_early_memory(MemoryMap& map, std::uint64_t bytes, PhysicalAddress limit);

}  // namespace ingot::os
