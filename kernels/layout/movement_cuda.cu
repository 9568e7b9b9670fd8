// Moving elements. A thread has several loads under way before it stores; a transposition goes through a tile in shared
// memory, so that neighbouring threads touch neighbouring memory on both sides.
#include "kernels/layout/movement_cuda.h"

#include "kernels/device/map.h"

namespace ingot::device {
namespace {

template <class Unit>
INGOT_ON_DEVICE void move_units(const DeviceMovement& movement) {
  const ThreadItems items(movement.items);
  Unit units[most_turns];
  std::byte* targets[most_turns];
  INGOT_UNROLL
  for (unsigned turn = 0; turn < most_turns; ++turn) {
    const ItemPlace place = items[turn];
    targets[turn] = nullptr;
    if (place.row < movement.walk.rows) {
      std::int64_t offsets[2];
      movement.walk.find_row(place.row, offsets);
      const std::byte* const from = movement.from + offsets[0] + place.number * movement.walk.steps[0];
      units[turn] = load_unit<Unit>(from);
      targets[turn] = movement.to + offsets[1] + place.number * movement.walk.steps[1];
    }
  }
  INGOT_UNROLL
  for (unsigned turn = 0; turn < most_turns; ++turn) {
    if (targets[turn] != nullptr) store_unit(targets[turn], units[turn]);
  }
}

template <class Unit>
INGOT_ON_DEVICE void transpose_tile(const DeviceTransposition& transposition) {
  constexpr unsigned size = transposed_tile;
  INGOT_SHARED Unit tile[size][size + 1];  // a column more: threads down a column then meet different banks
  const unsigned tile_index = block_index() % transposition.tiles_a_matrix;
  const unsigned column = tile_index % transposition.tiles_a_line * size;
  const unsigned line = tile_index / transposition.tiles_a_line * size;
  std::int64_t offsets[2];
  transposition.others.find_row(block_index() / transposition.tiles_a_matrix, offsets);
  const unsigned along = thread_index() % size;
  const unsigned step = thread_count() / size;
  // Lines are packed in the source: threads side by side read along them.
  const std::byte* const from = transposition.from + offsets[0] + (line + along) * std::int64_t{sizeof(Unit)};
  for (unsigned across = thread_index() / size; across < size; across += step) {
    if (line + along < transposition.lines && column + across < transposition.columns) {
      tile[across][along] = load_unit<Unit>(from + (column + across) * transposition.from_column);
    }
  }
  synchronize_block();
  std::byte* const to = transposition.to + offsets[1] + (column + along) * std::int64_t{sizeof(Unit)};
  for (unsigned across = thread_index() / size; across < size; across += step) {
    if (column + along < transposition.columns && line + across < transposition.lines) {
      store_unit(to + (line + across) * transposition.to_line, tile[along][across]);
    }
  }
}

}  // namespace

INGOT_DEVICE_FUNCTION(layout_move_1, DeviceMovement, 256) { move_units<std::uint8_t>(parameters); }
INGOT_DEVICE_FUNCTION(layout_move_2, DeviceMovement, 256) { move_units<std::uint16_t>(parameters); }
INGOT_DEVICE_FUNCTION(layout_move_4, DeviceMovement, 256) { move_units<std::uint32_t>(parameters); }
INGOT_DEVICE_FUNCTION(layout_move_8, DeviceMovement, 256) { move_units<std::uint64_t>(parameters); }
INGOT_DEVICE_FUNCTION(layout_move_16, DeviceMovement, 256) { move_units<Words16>(parameters); }

INGOT_DEVICE_FUNCTION(layout_transpose_1, DeviceTransposition, 256) { transpose_tile<std::uint8_t>(parameters); }
INGOT_DEVICE_FUNCTION(layout_transpose_2, DeviceTransposition, 256) { transpose_tile<std::uint16_t>(parameters); }
INGOT_DEVICE_FUNCTION(layout_transpose_4, DeviceTransposition, 256) { transpose_tile<std::uint32_t>(parameters); }
INGOT_DEVICE_FUNCTION(layout_transpose_8, DeviceTransposition, 256) { transpose_tile<std::uint64_t>(parameters); }

}  // namespace ingot::device
