// Ranked logits on a device: see kernels/vector/order_key.h. NaN is the least.
#pragma once

#include "kernels/device/block.h"
#include "kernels/device/groups.h"
#include "kernels/sampling/rows_cuda.h"
#include "kernels/vector/order_key.h"

namespace ingot::device {

INGOT_ON_DEVICE std::int64_t rank_of(float logit, std::uint32_t token) {
  return ranked(order_key<NaNOrder::least>(logit), token);
}
// The logit that a rank was made of, but for the sign of a zero.
INGOT_ON_DEVICE float logit_of(std::int64_t rank) {
  const std::int32_t key = key_of(rank);
  return float_of_bits(static_cast<std::uint32_t>(key ^ (key >> 31 & 0x7fffffff)));
}
// Above what is masked out.
INGOT_ON_DEVICE bool is_candidate(std::int64_t rank) { return key_of(rank) > order_key<NaNOrder::least>(-infinity); }

// The greatest of a row, by a whole block, from what find_greatest left.
INGOT_ON_DEVICE std::int64_t greatest_of(const SamplingScratch& scratch, std::uint32_t row) {
  std::int64_t greatest = INT64_MIN;
  for (std::uint32_t piece = thread_index(); piece < scratch.pieces; piece += thread_count()) {
    greatest = Greatest{}(greatest, scratch.greatest[std::uint64_t{row} * scratch.pieces + piece]);
  }
  return block_maximum(greatest);
}

}  // namespace ingot::device
