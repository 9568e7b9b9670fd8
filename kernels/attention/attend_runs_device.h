// Runs of a prompt on matrix units: a block has 64 rows, each of its warps 16, and they walk the keys of all of them.
// Units of 32 keys are joined in order to splits, and splits in order to the result, as those of single tokens are
// (attend_token_device.h): a token's bits are the same either way.
//
// Shared memory of a block: two stages of a tile of keys and one of values, 32 KiB with halves of 128 dimensions, and
// what each warp writes down of a unit.
#pragma once

#include "kernels/attention/attend_unit_device.h"
#include "kernels/device/block.h"

namespace ingot::device {

inline constexpr unsigned run_rows = matrix_warps * warp_rows;

// Nothing of a split was seen: what is joined to it does not notice the sum, which weighs nothing.
inline constexpr RowState unseen_split = {-infinity, -1};

// What a lane has of rows g and g + 8 of its warp. Registers hold the split that it walks; those before it, joined, lie
// in y, for as many registers again would halve the warps that a multiprocessor holds.
template <class Unit>
struct RunRows {
  static constexpr unsigned blocks = Unit::width / block_width;

  UnitRows of_lane;
  RowState split_states[2];
  RowState states[2];
  float* y[2];       // null: the row is not there
  bool is_begun[2];  // whether a split was joined
  MixedBlock outputs[blocks];

  // The rows of a warp; returns what any of them sees.
  INGOT_ON_DEVICE DeviceKeys begin(const AttendedRows& parameters, const TileRows& rows, unsigned first_row) {
    const unsigned group = parameters.head_group;
    of_lane = rows_of_lane(parameters, rows, first_row);
    INGOT_UNROLL
    for (unsigned second = 0; second < 2; ++second) {
      const unsigned row = first_row + lane_index() / 4 + 8 * second;
      const bool is_there = row < rows.count;
      y[second] = is_there ? &parameters.y(rows.batch, rows.head(row, group), rows.token(row, group), 0) : nullptr;
      states[second] = is_there ? first_state(parameters, rows.head(row, group)) : RowState{-infinity, 0};
      split_states[second] = unseen_split;
      is_begun[second] = false;
    }
    INGOT_UNROLL
    for (MixedBlock& block : outputs) block = {};
    if (first_row >= rows.count) return {0, 0};
    // Later tokens see from later positions on, and as far or farther.
    const unsigned left = rows.count - first_row;
    const unsigned last_row = first_row + (left < warp_rows ? left : warp_rows) - 1;
    return {parameters.seen_from(rows.position(first_row, group)).begin,
            parameters.seen_from(rows.position(last_row, group)).end};
  }

  // Joins the split that ends to those before it. One that was not seen is none. Returns whether a result is no number.
  INGOT_ON_DEVICE bool end_split(unsigned second, unsigned width, bool is_last) {
    bool is_strange = false;
    const bool is_seen = split_states[second].sum >= 0 || is_nan(split_states[second].sum);
    if (y[second] == nullptr || (!is_seen && !is_last)) return false;
    Shares shares = {1, 0};
    if (is_seen) shares = join_split<PowersOf2>(states[second], split_states[second].maximum, split_states[second].sum);
    const float factor = is_last ? inverse_sum(states[second]) : 1;
    INGOT_UNROLL
    for (unsigned block = 0; block < blocks; ++block) {
      INGOT_UNROLL
      for (unsigned i = 0; i < 8; ++i) {
        float& added = outputs[block].tiles[i / 2].values[2 * second + i % 2];
        const unsigned dimension = Unit::dimension_of(block, i / 2, lane_index() % 4 * 2 + i % 2);
        if (dimension < width) {
          float output = is_begun[second] ? y[second][dimension] : 0;
          if (is_seen) output = join_outputs(output, added, shares);
          y[second][dimension] = output * factor;
          is_strange = is_strange || !is_finite(output);
        }
        added = 0;
      }
    }
    split_states[second] = unseen_split;
    is_begun[second] = true;
    return is_strange;
  }
};

// Values that are no numbers, to 32 dimensions of rows that see them.
template <class Unit>
INGOT_ON_DEVICE void add_specials(const DevicePages& pages, const std::byte* lane_row, const UnitRows& rows,
                                  std::uint32_t weightless, std::int32_t unit_begin, unsigned block,
                                  MixedBlock& mixed) {
  INGOT_ROLLED
  for (unsigned key = 0; key < unit_keys; ++key) {
    const std::byte* const row = row_of_lane(lane_row, key);
    if (row == nullptr) continue;
    const std::int32_t position = unit_begin + static_cast<std::int32_t>(key);
    const std::uint32_t of_key = shuffle_index(weightless, lane_of_score(lane_index() / 4, key));
    INGOT_UNROLL
    for (unsigned i = 0; i < 16; ++i) {
      const unsigned dimension = Unit::dimension_of(block, i / 4, lane_index() % 4 * 2 + i % 2);
      const DeviceKeys seen = rows.seen[i / 2 % 2];
      if (dimension >= pages.width || position < seen.begin || position >= seen.end) continue;
      const float special = Unit::special_at(row, dimension);
      if (special != 0) mixed.tiles[i / 4].values[i % 4] += weighed_special(special, of_key, key, i / 2 % 2);
    }
  }
}

// A warp's rows and one unit of keys.
template <class Unit, class Pages>
INGOT_ON_DEVICE void attend_unit_of_run(const AttendedRows& parameters, std::int32_t unit_begin,
                                        const typename Unit::Queries& queries, const std::byte* tiles, std::byte* notes,
                                        bool is_careful, const std::byte* value_row, RunRows<Unit>& run) {
  UnitWeights weights;
  Unit::score(queries, width_in<Unit, Pages>(parameters.keys), tiles, notes, weights);
  synchronize_warp();  // nobody still reads the notes of keys where those of values come
  if (!Pages::has_whole_units && has_rules(parameters)) {
    bound_scores(parameters, unit_begin, run.of_lane, weights);
  } else {
    scale_scores(parameters, run.of_lane, weights);
  }
  hide_scores(unit_begin, run.of_lane, weights);
  const std::uint32_t weightless = !Pages::has_whole_units && is_careful ? weightless_scores(run.of_lane, weights) : 0;
  RowState states[2];
  weigh_unit(weights, run.of_lane.has_second, states);
  constexpr auto unit_length = static_cast<std::int32_t>(unit_keys);
  Shares shares[2];
  bool is_seen[2];
  INGOT_UNROLL
  for (unsigned second = 0; second < 2; ++second) {
    const DeviceKeys seen = run.of_lane.seen[second];
    is_seen[second] = seen.end > unit_begin && seen.begin - unit_begin < unit_length;
    if (!is_seen[second]) continue;
    shares[second] = join_split<PowersOf2>(run.split_states[second], states[second].maximum, states[second].sum);
  }
  Unit::template mix<MixedBlock>(weights, run.of_lane.has_second, width_in<Unit, Pages>(parameters.values),
                                 tiles + Unit::tile_bytes, notes, [&](unsigned block, MixedBlock& mixed) {
                                   if (!Pages::has_whole_units && is_careful) {
                                     add_specials<Unit>(parameters.values, value_row, run.of_lane, weightless,
                                                        unit_begin, block, mixed);
                                   }
                                   INGOT_UNROLL
                                   for (unsigned tile = 0; tile < 4; ++tile) {
                                     INGOT_UNROLL
                                     for (unsigned i = 0; i < 4; ++i) {
                                       float& output = run.outputs[block].tiles[tile].values[i];
                                       if (is_seen[i / 2])
                                         output = join_outputs(output, mixed.tiles[tile].values[i], shares[i / 2]);
                                     }
                                   }
                                 });
}

// A block's tile of a run. Returns whether a result of this lane is no number.
template <class Unit, class Pages>
INGOT_ON_DEVICE bool attend_tile(const AttendedRows& parameters, const TileRows& rows, bool is_careful) {
  constexpr auto unit_length = static_cast<std::int32_t>(unit_keys);
  constexpr unsigned stage_bytes = 2 * Unit::tile_bytes;
  constexpr unsigned warp_keys = unit_keys / matrix_warps;
  auto* const stages = dynamic_shared<std::byte>();
  std::byte* const notes = stages + 2 * stage_bytes + warp_index() * Unit::notes_bytes;
  const unsigned group = parameters.head_group;
  const unsigned width = width_in<Unit, Pages>(parameters.values);
  const unsigned first_row = warp_index() * warp_rows;
  RunRows<Unit> run;
  const DeviceKeys of_warp = run.begin(parameters, rows, first_row);
  if constexpr (Pages::has_whole_units) run.of_lane.has_second = true;
  const DeviceKeys any = {parameters.seen_from(rows.position(0, group)).begin,
                          parameters.seen_from(rows.position(rows.count - 1, group)).end};
  typename Unit::Queries queries;
  Unit::load_queries(parameters, rows, first_row, run.of_lane.has_second, width_in<Unit, Pages>(parameters.keys),
                     queries);
  const unsigned first_key = warp_index() * warp_keys;
  const std::int32_t first = any.begin / unit_length * unit_length;
  const std::int32_t units = any.begin < any.end ? (any.end - first + unit_length - 1) / unit_length : 0;
  UnitPages pages;  // where whole units are, of 32
  const auto fetch = [&](std::int32_t unit, std::byte* tiles) {
    if constexpr (Pages::has_whole_units) {
      const std::int32_t own = unit + static_cast<std::int32_t>(lane_index());
      const unsigned of_32 = static_cast<unsigned>(unit) % warp_size;
      if (of_32 == 0 && own < units) pages.find(parameters, rows, first + own * unit_length);
      const UnitPlaces places = pages.at(of_32);
      const unsigned offset = first_key * Unit::row_bytes;
      Unit::template fetch_whole<warp_keys>(places.key + offset, tiles + offset);
      Unit::template fetch_whole<warp_keys>(places.value + offset, tiles + Unit::tile_bytes + offset);
    } else {
      const UnitPlaces places = places_of(parameters, rows, first + unit * unit_length, any);
      Unit::fetch(parameters, parameters.keys, places.key, first_key, first_key + warp_keys, tiles);
      Unit::fetch(parameters, parameters.values, places.value, first_key, first_key + warp_keys,
                  tiles + Unit::tile_bytes);
    }
  };
  // The unit that is fetched goes before the one that is attended to: their code is the same, and written once.
  INGOT_ROLLED
  for (std::int32_t unit = -1; unit < units; ++unit) {
    const std::int32_t unit_begin = first + unit * unit_length;
    const unsigned stage = static_cast<unsigned>(unit) % 2;
    std::byte* const tiles = stages + stage * stage_bytes;
    wait_for_copies<0>();
    if (is_careful && unit >= 0) {
      synchronize_warp();  // other lanes' copies are there too
      Unit::take_specials(first_key, first_key + warp_keys, tiles + Unit::tile_bytes);
    }
    synchronize_block();  // the unit is there, and nobody reads the one before
    if (unit + 1 < units) fetch(unit + 1, stages + (stage ^ 1) * stage_bytes);
    commit_copies();
    if (unit < 0) continue;
    if (unit_begin % static_cast<std::int32_t>(split_keys) == 0) {
      INGOT_UNROLL
      for (unsigned second = 0; second < 2; ++second) {
        const std::uint32_t shift = run.of_lane.seen[second].split_length_shift(parameters.most_splits);
        const bool is_end = unit_begin >> shift << shift == unit_begin;
        if (is_end) run.end_split(second, width, false);
      }
    }
    if (unit_begin >= of_warp.end || of_warp.begin - unit_begin >= unit_length) continue;
    const std::byte* const value_row = is_careful ? places_of(parameters, rows, unit_begin, any).value : nullptr;
    attend_unit_of_run<Unit, Pages>(parameters, unit_begin, queries, tiles, notes, is_careful, value_row, run);
  }
  const bool is_strange = run.end_split(0, width, true);
  return run.end_split(1, width, true) || is_strange;
}

// Tiles of all runs.
template <class Unit>
INGOT_ON_DEVICE void attend_runs(const AttendedRows& parameters) {
  const TileRows rows = tile_of_runs<run_rows>(parameters);
  if (rows.count == 0) return;  // the whole block
  // Values that are no numbers are rare, and show in what comes out.
  INGOT_ROLLED
  for (unsigned round = 0; round < 2; ++round) {
    const bool is_strange = round == 0 && parameters.has_whole_units
                                ? attend_tile<Unit, WholeUnits>(parameters, rows, false)
                                : attend_tile<Unit, AnyPages>(parameters, rows, round == 1);
    if (!any_thread(is_strange)) return;
  }
}

}  // namespace ingot::device
