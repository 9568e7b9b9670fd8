#include "kernels/cache/rotated_store_cuda.h"

#include "kernels/cache/store_device.h"
#include "kernels/position/shared_turns.h"

namespace ingot::device {
namespace {

// Up to `most` heads of a token from `first` on.
INGOT_ON_DEVICE void store_heads(const CacheStoreRows& rows, std::uint32_t token, std::uint32_t first,
                                 std::uint32_t most) {
  const std::uint32_t heads = rows.cache.heads;
  const std::uint32_t left = first < heads ? heads - first : 0;
  const std::uint32_t count = left < most ? left : most;
  const std::uint32_t parts = rows.groups.groups;
  for (std::uint32_t item = thread_index(); item < count * parts; item += thread_count()) {
    store_part(rows, token * heads + first + item / parts, item % parts);
  }
}

}  // namespace

// Budget of rotated_store_heads: 40 bytes stack. Sines of large angles are reduced by a table of the device's library,
// whose digits it puts there.
INGOT_DEVICE_FUNCTION(rotated_store_heads, RotatedStoreHeads, 256) {
  INGOT_SHARED float cosines[FrequencyList::most];
  INGOT_SHARED float sines[FrequencyList::most];
  const std::uint32_t token = block_index();
  const std::uint32_t turned_blocks = parameters.query_blocks + parameters.key_blocks;
  if (block_index_y() >= turned_blocks) {
    const std::uint32_t first = (block_index_y() - turned_blocks) * parameters.values_per_block;
    return store_heads(parameters.values, token, first, parameters.values_per_block);
  }
  const FrequencyList& list = parameters.rope.list;
  const SharedTurns turns = {cosines, sines, list.begin};
  const bool is_key = block_index_y() >= parameters.query_blocks;
  const TurnedHeads& heads = is_key ? parameters.second : parameters.rope.heads;
  const std::uint32_t block = is_key ? block_index_y() - parameters.query_blocks : block_index_y();
  turn_heads_of_block(heads, block, token, list.begin, list.count, [&] { turns.fill(parameters.rope); }, turns);
  if (!is_key) return;
  synchronize_block();  // what is stored, others of the block have turned
  store_heads(parameters.keys, token, block * heads.heads_per_block, heads.heads_per_block);
}

}  // namespace ingot::device
