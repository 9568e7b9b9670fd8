// Memory for what must exist before the frame allocator does, taken out of the boot map itself.
#pragma once

#include <cstdint>

#include "os/boot/memory_map.h"

namespace ingot::os {

// The highest whole frames of usable memory below `limit`, rounded up to full frames; the map lists them as `kernel`
// from now on. From the top, because low memory is what devices may need.
inline Result<PhysicalAddress> take_early_memory(MemoryMap& map, std::uint64_t bytes, PhysicalAddress limit) {
  const std::uint64_t needed = round_up(bytes, page_bytes);
  const auto ranges = map.ranges();
  for (std::size_t index = ranges.size(); index-- > 0;) {
    const MemoryRange range = ranges[index];
    if (range.kind != MemoryKind::usable) continue;
    const std::uint64_t begin = round_up(range.begin.value(), page_bytes);
    const std::uint64_t end = round_down(range.end() < limit ? range.end().value() : limit.value(), page_bytes);
    if (begin >= end || end - begin < needed) continue;
    const PhysicalAddress taken(end - needed);
    TRY(map.add({taken, needed, MemoryKind::kernel}));
    return taken;
  }
  return Error::of(ErrorCode::out_of_memory, "expected ", needed, " contiguous usable bytes below ", limit,
                   ", found no such range in the memory map");
}

}  // namespace ingot::os
