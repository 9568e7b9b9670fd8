// The mapping kernel: a function of the elements at one place of several tensors, written to the same place of another.
//
// A thread loads all of its items before it stores the first, so that several loads are under way at once; and so a
// target may be one of its sources. Which thread has which element does not show in the result.
#pragma once

#include "kernels/device/groups.h"
#include "kernels/device/map_parameters.h"

namespace ingot::device {

// Where an item of a walk stands: its row, and its number within the row.
struct ItemPlace {
  std::uint32_t row;
  std::uint32_t number;
};

// The items of this thread, of a launch by walk_shape().
class ThreadItems {
 public:
  INGOT_ON_DEVICE explicit ThreadItems(const WalkItems& items) : items_(items) {
    const std::uint64_t first = std::uint64_t{block_index()} * (thread_count() * items.turns);
    if (first <= 0xffffffffu) {  // divisions of 64 bits take a device ten times as long
      row_ = static_cast<std::uint32_t>(first) / items.per_row;
      number_ = static_cast<std::uint32_t>(first) % items.per_row;
    } else {
      row_ = static_cast<std::uint32_t>(first / items.per_row);
      number_ = static_cast<std::uint32_t>(first % items.per_row);
    }
  }
  // Beyond the last one the row is beyond the last row.
  INGOT_ON_DEVICE ItemPlace operator[](unsigned turn) const {
    if (turn >= items_.turns) return {0xffffffffu, 0};
    const std::uint32_t item = number_ + turn * thread_count() + thread_index();
    if (item < items_.per_row) return {row_, item};
    return {row_ + item / items_.per_row, item % items_.per_row};
  }

 private:
  const WalkItems& items_;
  std::uint32_t row_;
  std::uint32_t number_;
};

// y[i] = each(x[0][i], x[1][i], ...)
template <unsigned Count, class Each>
INGOT_ON_DEVICE void for_each_value(const float (&x)[1][Count], float (&y)[Count], Each each) {
  INGOT_UNROLL
  for (unsigned i = 0; i < Count; ++i) y[i] = each(x[0][i]);
}
template <unsigned Count, class Each>
INGOT_ON_DEVICE void for_each_value(const float (&x)[2][Count], float (&y)[Count], Each each) {
  INGOT_UNROLL
  for (unsigned i = 0; i < Count; ++i) y[i] = each(x[0][i], x[1][i]);
}

// Items of Width elements. `function(x, y)` makes y[Width * most_turns] of x[Sources][Width * most_turns], most often
// by for_each_value.
template <unsigned Width, unsigned Sources, class Function>
INGOT_ON_DEVICE void map_items(const DeviceMap<Sources>& map, Function function) {
  constexpr unsigned count = Width * most_turns;
  const ThreadItems items(map.items);
  float x[Sources][count];
  float y[count];
  std::int64_t targets[most_turns];
  unsigned lengths[most_turns];
  INGOT_UNROLL
  for (unsigned turn = 0; turn < most_turns; ++turn) {
    const ItemPlace place = items[turn];
    lengths[turn] = 0;
    if (place.row < map.walk.rows) {
      const unsigned at = Width * place.number;
      std::int64_t offsets[Sources + 1];
      map.walk.find_row(place.row, offsets);
      targets[turn] = offsets[0] + at * map.walk.steps[0];
      lengths[turn] = map.walk.length - at < Width ? map.walk.length - at : Width;
      INGOT_UNROLL
      for (unsigned source = 0; source < Sources; ++source) {
        const std::int64_t step = map.walk.steps[source + 1];
        const float* const from = map.sources[source] + offsets[source + 1] + at * step;
        float group[group_floats] = {};
        if (Width == 1 || step == 0) {
          group[0] = from[0];
          for (unsigned i = 1; i < Width; ++i) group[i] = group[0];
        } else {
          load_group(group, from, 0, lengths[turn], lengths[turn] == Width);
        }
        INGOT_UNROLL
        for (unsigned i = 0; i < Width; ++i) x[source][Width * turn + i] = group[i];
      }
    } else {
      INGOT_UNROLL
      for (unsigned source = 0; source < Sources; ++source) {
        INGOT_UNROLL
        for (unsigned i = 0; i < Width; ++i) x[source][Width * turn + i] = 0;
      }
    }
  }
  function(x, y);
  INGOT_UNROLL
  for (unsigned turn = 0; turn < most_turns; ++turn) {
    if (lengths[turn] == 0) continue;
    float* const to = map.target + targets[turn];
    if constexpr (Width == 1) {
      to[0] = y[turn];
    } else {
      float group[group_floats];
      INGOT_UNROLL
      for (unsigned i = 0; i < Width; ++i) group[i] = y[Width * turn + i];
      store_group(group, to, 0, lengths[turn], lengths[turn] == Width);
    }
  }
}

template <unsigned Sources, class Function>
INGOT_ON_DEVICE void map_elements(const DeviceMap<Sources>& map, Function function) {
  if (map.is_grouped) {
    map_items<group_floats>(map, function);
  } else {
    map_items<1>(map, function);
  }
}

}  // namespace ingot::device
