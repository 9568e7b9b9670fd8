// What threads of a block tell each other. All of them take part, whole warps of them, and all get the same bits: a
// butterfly within a warp, then warp after warp, an order that depends on the number of threads alone.
#pragma once

#include "kernels/device/warp.h"

namespace ingot::device {

inline constexpr unsigned most_warps = 32;

template <class Value, class Combine>
INGOT_ON_DEVICE Value block_reduce(Value value, Combine combine) {
  INGOT_SHARED Value of_warps[most_warps];
  value = warp_reduce(value, combine);
  synchronize_block();  // nobody still reads what the reduction before this one left there
  if (lane_index() == 0) of_warps[warp_index()] = value;
  synchronize_block();
  // One after another: loads of a word that all lanes want are cheap, and there is no identity to look for.
  Value result = of_warps[0];
  for (unsigned warp = 1; warp < warp_count(); ++warp) result = combine(result, of_warps[warp]);
  return result;
}
template <class Value>
INGOT_ON_DEVICE Value block_sum(Value value) {
  return block_reduce(value, Sum{});
}
template <class Value>
INGOT_ON_DEVICE Value block_maximum(Value value) {
  return block_reduce(value, Greatest{});
}
template <class Value>
INGOT_ON_DEVICE Value block_minimum(Value value) {
  return block_reduce(value, Least{});
}

INGOT_ON_DEVICE bool any_thread(bool vote) { return block_maximum(vote ? 1u : 0u) != 0; }

template <class Value>
struct Scanned {
  Value inclusive;  // the sum over this thread and all before it
  Value total;
};
template <class Value>
INGOT_ON_DEVICE Scanned<Value> block_scan(Value value) {
  INGOT_SHARED Value of_warps[most_warps];
  const Value within = warp_inclusive_scan(value);
  synchronize_block();
  if (lane_index() == warp_size - 1) of_warps[warp_index()] = within;
  synchronize_block();
  Value before = 0;
  Value total = 0;
  for (unsigned warp = 0; warp < warp_count(); ++warp) {
    if (warp == warp_index()) before = total;
    total = total + of_warps[warp];
  }
  return {before + within, total};
}

}  // namespace ingot::device
