// The cache's budget: what a session's memory of its sequences takes, and how many pages and checkpoints a number of
// bytes has room for.
#pragma once

#include "base/result.h"
#include "base/units.h"
#include "model/circuit/circuit.h"
#include "model/plan/cache_geometry.h"

namespace ingot {

// Bytes.
struct CacheCosts {
  std::int64_t page = 0;        // of the layers that keep all positions
  std::int64_t sequence = 0;    // a ring and states, whatever the sequence's length is
  std::int64_t checkpoint = 0;  // what a window sees, and states (engine/sequence_checkpoints.h)
};

// Of the caches and states that the circuit names, but for those of layers that stay on the host where the others are
// on a device. Its attention was lowered to the same geometry.
CacheCosts cache_costs(const Circuit& circuit, const CacheGeometry& geometry);

struct CacheShares {
  std::int64_t pages = 0;
  std::int64_t checkpoints = 0;
};

// `most` are worth having. Every sequence has its ring and states; then come the pages of one sequence as long as the
// context, and of the rest half each, where both are wanted. Fails where there is not room for a page.
Result<CacheShares> divide_cache_memory(const CacheCosts& costs, const CacheGeometry& geometry, const CacheShares& most,
                                        Bytes memory);

}  // namespace ingot
