#include "engine/cache_budget.h"

#include <algorithm>

#include "engine/paged_cache.h"

namespace ingot {

CacheCosts cache_costs(const Circuit& circuit, const CacheGeometry& geometry) {
  CacheCosts costs;
  std::int64_t ring_page = 0, states = 0;
  for (const CircuitTensor& tensor : circuit.tensors) {
    if (tensor.is_on_host) continue;
    const std::int64_t bytes = row_bytes(tensor.dtype, element_count(tensor.shape));
    if (tensor.storage == Storage::state)
      states += static_cast<std::int64_t>(align_up(static_cast<std::size_t>(bytes), 64));
    if (tensor.storage != Storage::cache) continue;
    (geometry.keeps_in_ring(tensor.window) ? ring_page : costs.page) += bytes / tensor.shape[0];
  }
  const CacheRing ring{.pages = geometry.ring_pages, .window = geometry.ring_window};
  costs.sequence = ring_page * ring.pages + states;
  costs.checkpoint = ring_page * ring.window_pages(geometry.page_length) + states;
  return costs;
}

Result<CacheShares> divide_cache_memory(const CacheCosts& costs, const CacheGeometry& geometry, const CacheShares& most,
                                        Bytes memory) {
  const auto asked = static_cast<std::int64_t>(memory.count());
  const std::int64_t left = asked - costs.sequence * geometry.sequences;
  if (left < costs.page) {
    return Error::of(ErrorCode::out_of_range, "expected memory for the cache of at least ", asked - left + costs.page,
                     " bytes, which a page of ", geometry.page_length, " tokens and the states of ", geometry.sequences,
                     " sequences take, found ", asked, ": give more --cache-memory, or fewer --sequences");
  }
  const auto checkpoints_of = [&](std::int64_t bytes) {
    return costs.checkpoint == 0 ? 0 : std::min(most.checkpoints, std::max<std::int64_t>(0, bytes) / costs.checkpoint);
  };
  // Where no layer keeps all positions, pages are names of texts only.
  if (costs.page == 0) return CacheShares{.pages = most.pages, .checkpoints = checkpoints_of(left)};
  const std::int64_t halved = checkpoints_of((left - geometry.pages_per_sequence * costs.page) / 2);
  const std::int64_t pages = std::min(most.pages, (left - halved * costs.checkpoint) / costs.page);
  return CacheShares{.pages = pages, .checkpoints = checkpoints_of(left - pages * costs.page)};
}

}  // namespace ingot
