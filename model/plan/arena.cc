#include "model/plan/arena.h"

#include <algorithm>
#include <numeric>

namespace ingot {

ArenaLayout lay_out(std::span<const BufferLife> buffers) {
  ArenaLayout layout;
  layout.offsets.assign(buffers.size(), 0);
  const auto rounded = [&](std::size_t index) {
    return (buffers[index].bytes + arena_alignment - 1) / arena_alignment * arena_alignment;
  };
  std::vector<std::size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t left, std::size_t right) { return buffers[left].bytes > buffers[right].bytes; });
  std::vector<std::size_t> placed;  // by rising offset
  for (const std::size_t index : order) {
    std::int64_t offset = 0;
    for (const std::size_t other : placed) {
      const bool meets = buffers[other].first <= buffers[index].last && buffers[index].first <= buffers[other].last;
      if (!meets || layout.offsets[other] + rounded(other) <= offset) continue;
      if (layout.offsets[other] >= offset + rounded(index)) break;  // the gap before it is large enough
      offset = layout.offsets[other] + rounded(other);
    }
    layout.offsets[index] = offset;
    layout.bytes = std::max(layout.bytes, offset + rounded(index));
    layout.sum_bytes += rounded(index);
    const auto place = std::upper_bound(placed.begin(), placed.end(), index, [&](std::size_t left, std::size_t right) {
      return layout.offsets[left] < layout.offsets[right];
    });
    placed.insert(place, index);
  }
  return layout;
}

}  // namespace ingot
