#include "kernels/position/rope_cuda.h"

#include "kernels/position/shared_turns.h"

// Budget of rope_heads, joint_rope_heads, rope_table_rows, sinusoidal_rows: 40 bytes stack. Sines of large angles are
// reduced by a table of the device's library, whose digits it puts there.
namespace ingot::device {

INGOT_DEVICE_FUNCTION(rope_heads, RopeHeads, 256) {
  INGOT_SHARED float cosines[FrequencyList::most];
  INGOT_SHARED float sines[FrequencyList::most];
  const SharedTurns turns = {cosines, sines, parameters.list.begin};
  turn_heads_of_block(
      parameters.heads, block_index_y(), block_index(), parameters.list.begin, parameters.list.count,
      [&] { turns.fill(parameters); }, turns);
}

INGOT_DEVICE_FUNCTION(joint_rope_heads, JointRopeHeads, 256) {
  INGOT_SHARED float cosines[FrequencyList::most];
  INGOT_SHARED float sines[FrequencyList::most];
  const FrequencyList& list = parameters.rope.list;
  const SharedTurns turns = {cosines, sines, list.begin};
  const bool is_first = block_index_y() < parameters.first_blocks;
  const std::uint32_t block = is_first ? block_index_y() : block_index_y() - parameters.first_blocks;
  turn_heads_of_block(
      is_first ? parameters.rope.heads : parameters.second, block, block_index(), list.begin, list.count,
      [&] { turns.fill(parameters.rope); }, turns);
}

INGOT_DEVICE_FUNCTION(rope_table_rows, RopeTableRows, 256) {
  parameters.groups.visit(block_index(), thread_index(), [&](std::uint32_t row, std::uint32_t place) {
    const CosineAndSine turn = cosine_and_sine(angle_of(parameters.list, place, parameters.positions(row)));
    const std::uint32_t pair = parameters.list.begin + place;
    parameters.cosine(row, pair) = static_cast<float>(parameters.magnitude * turn.cosine);
    parameters.sine(row, pair) = static_cast<float>(parameters.magnitude * turn.sine);
  });
}

INGOT_DEVICE_FUNCTION(sinusoidal_rows, SinusoidalRows, 256) {
  parameters.groups.visit(block_index(), thread_index(), [&](std::uint32_t row, std::uint32_t place) {
    const CosineAndSine turn = cosine_and_sine(angle_of(parameters.list, place, parameters.positions(row)));
    const std::uint32_t pair = parameters.list.begin + place;
    const std::uint32_t first = parameters.is_interleaved ? 2 * pair : pair;
    const std::uint32_t second = parameters.is_interleaved ? 2 * pair + 1 : pair + parameters.pairs;
    const bool has_x = parameters.x.data != nullptr;
    const double a = has_x ? static_cast<double>(parameters.x(row, first)) : 0;
    const double b = has_x ? static_cast<double>(parameters.x(row, second)) : 0;
    parameters.y(row, first) = static_cast<float>(a + turn.sine);
    parameters.y(row, second) = static_cast<float>(b + turn.cosine);
  });
}

}  // namespace ingot::device
