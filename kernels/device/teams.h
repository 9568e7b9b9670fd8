// Teams: the threads that work on one row together, a warp where it is short and a block where it is long.
#pragma once

#include "kernels/device/block.h"

namespace ingot::device {

// Blocks hold whole teams; a team that has no row left must not leave before its block's last barrier.
template <unsigned Threads>
struct Team {
  static_assert(Threads == warp_size || Threads % warp_size == 0);
  static constexpr unsigned threads = Threads;
  static constexpr bool is_warp = Threads == warp_size;

  static INGOT_ON_DEVICE unsigned rank() {
    if constexpr (is_warp) return lane_index();
    return thread_index();
  }
  // The row of this team, of as many as the launch has teams.
  static INGOT_ON_DEVICE unsigned row() {
    if constexpr (is_warp) return block_index() * (thread_count() / warp_size) + warp_index();
    return block_index();
  }
  template <class Value>
  static INGOT_ON_DEVICE Value sum(Value value) {
    return reduce(value, Sum{});
  }
  template <class Value>
  static INGOT_ON_DEVICE Value maximum(Value value) {
    return reduce(value, Greatest{});
  }

 private:
  static constexpr unsigned warps = Threads / warp_size;
  static_assert((warps & (warps - 1)) == 0);

  template <unsigned Count, class Value, class Combine>
  static INGOT_ON_DEVICE Value by_halves(const Value* values, Combine combine) {
    if constexpr (Count == 1) {
      return values[0];
    } else {
      return combine(by_halves<Count / 2>(values, combine), by_halves<Count / 2>(values + Count / 2, combine));
    }
  }
  // block_reduce() for a number of warps that is known: by halves, so that nothing waits for a row of additions.
  template <class Value, class Combine>
  static INGOT_ON_DEVICE Value reduce(Value value, Combine combine) {
    value = warp_reduce(value, combine);
    if constexpr (is_warp) return value;
    INGOT_SHARED Value of_warps[warps];
    synchronize_block();  // nobody still reads what the reduction before this one left there
    if (lane_index() == 0) of_warps[warp_index()] = value;
    synchronize_block();
    return by_halves<warps>(of_warps, combine);
  }
};

}  // namespace ingot::device
