#include "os/memory/early_memory.h"

namespace ingot::os {

Result<PhysicalAddress> take_early_memory(MemoryMap& map, std::uint64_t bytes, PhysicalAddress limit) {
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
