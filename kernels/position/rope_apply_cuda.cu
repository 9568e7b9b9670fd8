#include "kernels/position/turn_device.h"

namespace ingot::device {

INGOT_DEVICE_FUNCTION(rope_apply_heads, RopeApplyHeads, 256) {
  const std::uint32_t token = block_index();
  const auto row =
      parameters.positions.data == nullptr ? token : static_cast<std::uint32_t>(parameters.positions(token));
  turn_heads_of_block(
      parameters.heads, block_index_y(), token, 0, parameters.heads.pairs, [] {},
      [&](std::uint32_t pair) { return PairTurn{parameters.cosine(row, pair), parameters.sine(row, pair)}; });
}

}  // namespace ingot::device
