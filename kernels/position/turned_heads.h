// The host's side of TurnedHeads.
#pragma once

#include <algorithm>

#include "kernels/device/windows.h"
#include "kernels/position/rope_cuda.h"
#include "kernels/position/rotation.h"
#include "machine/gpu/device_function.h"

namespace ingot {

// Preconditions: x is [tokens, heads, D] with packed rows, as is y, and both fit a device.
inline TurnedHeads turned_heads(const View<const float>& x, const View<float>& y, std::int64_t pairs, PairStyle style,
                                Direction direction) {
  constexpr std::int64_t most_blocks = 65535;  // along the second axis
  const std::int64_t heads = x.size(1);
  // Heads of a block share the angles. A few where there are few tokens, so that one of them is many blocks.
  const std::int64_t shared = x.size(0) < 512 ? 8 : 32;
  const std::int64_t per_block = std::max(shared, divide_rounding_up(heads, most_blocks));
  return {
      .x = x.data(),
      .y = y.data(),
      .x_token_stride = x.stride(0),
      .x_head_stride = x.stride(1),
      .y_token_stride = y.stride(0),
      .y_head_stride = y.stride(1),
      .heads = static_cast<std::uint32_t>(heads),
      .heads_per_block = static_cast<std::uint32_t>(per_block),
      .width = static_cast<std::uint32_t>(x.size(2)),
      .pairs = static_cast<std::uint32_t>(pairs),
      .is_interleaved = style == PairStyle::interleaved,
      .is_grouped = style == PairStyle::half_split && pairs % 4 == 0 && groups_are_aligned(x) && groups_are_aligned(y),
      .is_inverse = direction == Direction::inverse};
}

inline LaunchShape shape_of(const TurnedHeads& heads, std::int64_t tokens) {
  // Few heads have too few groups of pairs for all threads that a block may have; they are of 64 pairs at most.
  const std::int64_t groups = std::int64_t{heads.heads_per_block} * (heads.pairs / 4);
  const bool is_small = heads.is_grouped && groups <= 128;
  return {.blocks = static_cast<std::uint32_t>(tokens),
          .blocks_y = (heads.heads + heads.heads_per_block - 1) / heads.heads_per_block,
          .threads = is_small ? 128u : 256u};
}

}  // namespace ingot
