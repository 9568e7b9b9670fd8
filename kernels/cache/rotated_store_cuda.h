// What a launch of cache.rotated_store_paged's device function is told.
#pragma once

#include "kernels/cache/cache_cuda.h"
#include "kernels/position/rope_cuda.h"

namespace ingot {

// A block has a token and, by its place along the second axis, some heads of queries, of keys or of values.
struct RotatedStoreHeads {
  RopeHeads rope;      // of the queries
  TurnedHeads second;  // keys
  CacheStoreRows keys;
  CacheStoreRows values;
  std::uint32_t query_blocks;
  std::uint32_t key_blocks;
  std::uint32_t values_per_block;  // heads
};

}  // namespace ingot
