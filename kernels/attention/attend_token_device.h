// Single tokens on matrix units: their keys are split among blocks, and warps of a block take units of a split in turn.
// After each round all warps join what it left, in the order of keys, each warp rows of its own.
//
// Shared memory of a block, with halves of 128 dimensions: a tile of keys or values is 8 KiB. Two for each of four
// warps, 64 KiB, and 2 KiB for each row's results of a round: three blocks of four rows share a multiprocessor of 228
// KiB.
#pragma once

#include "kernels/attention/attend_unit_device.h"
#include "kernels/device/block.h"

namespace ingot::device {

// What the units of a round leave: a warp's unit each.
template <unsigned Warps, unsigned Rows, unsigned Rounds>
struct SharedUnits {
  RowState states[Rounds][Warps][Rows];
  // Whether values may be no numbers. Here the compiler knows nothing of it: it would make two loops of the one over
  // units, with half as many registers again.
  bool is_careful;
  std::uint32_t weightless[Warps][warp_size];  // weightless_scores() of each lane, where somebody asks
};

// Which of a token's keys a block has.
struct SplitKeys {
  DeviceKeys keys = {0, 0};  // those of the split that are seen
  std::int32_t first = 0;    // the first unit's first position
  bool is_alone = false;     // whether the token sees no other split
};
INGOT_ON_DEVICE SplitKeys split_of_block(const AttendedRows& parameters, DeviceKeys seen) {
  const std::uint32_t shift = seen.split_length_shift(parameters.most_splits);
  const std::int32_t length = std::int32_t{1} << shift;
  const auto split = static_cast<std::int32_t>(split_index());
  SplitKeys result;
  if (seen.begin >= seen.end || split > ((seen.end - 1) >> shift) - (seen.begin >> shift)) return result;
  const std::int32_t begin = ((seen.begin >> shift) + split) << shift;
  result.keys.begin = begin > seen.begin ? begin : seen.begin;
  result.keys.end = seen.end - begin > length ? begin + length : seen.end;
  result.is_alone = result.keys.begin == seen.begin && result.keys.end == seen.end;
  constexpr auto unit = static_cast<std::int32_t>(unit_keys);
  result.first = result.keys.begin / unit * unit;
  return result;
}

template <class Unit, class Pages, unsigned Warps>
struct TokenSplit {
  static constexpr unsigned warps = Warps;
  // Results of two rounds lie in turn in memory of their own: nobody waits until the one before is joined. Of eight
  // warps there would be too much of it for graphics cards, which give a block 99 KiB.
  static constexpr unsigned rounds = Pages::has_whole_units && Warps == Unit::token_warps ? Unit::rounds : 1;
  using Shared = SharedUnits<Warps, Pages::rows, rounds>;
  static constexpr unsigned rows_of_warp = Pages::rows / warps;         // that it joins
  static constexpr unsigned lane_dimensions = Unit::width / warp_size;  // of each
  struct Joined {
    RowState states[rows_of_warp];
    float outputs[rows_of_warp][lane_dimensions];
  };

  const AttendedRows& parameters;
  const TileRows& rows;
  SplitKeys split;
  unsigned units;
  std::byte* tiles;  // this warp's, of keys and of values
  std::byte* notes;  // and what it writes down
  float* results;    // [round][warp][row][dimension]
  Shared& shared;
  UnitRows of_lane;
  UnitPages unit_pages;  // where whole units are of step `lane` of 32

  INGOT_ON_DEVICE std::int32_t unit_begin(unsigned unit) const {
    return split.first + static_cast<std::int32_t>(unit * unit_keys);
  }
  static INGOT_ON_DEVICE unsigned width_of(const DevicePages& pages) { return width_in<Unit, Pages>(pages); }
  // Where a warp's unit of a step lies: its first key, or, where units may lie in several pieces, each lane's own.
  INGOT_ON_DEVICE UnitPlaces places_at(unsigned step) {
    const unsigned unit = step * warps + warp_index();
    if constexpr (!Pages::has_whole_units) {
      return unit < units ? places_of(parameters, rows, unit_begin(unit), split.keys) : UnitPlaces{};
    } else {
      if (step % warp_size == 0) {
        const unsigned own = unit + lane_index() * warps;
        if (own < units) unit_pages.find(parameters, rows, unit_begin(own));
      }
      return unit_pages.at(step % warp_size);
    }
  }
  INGOT_ON_DEVICE void fetch(const DevicePages& pages, const std::byte* from, std::byte* tile) const {
    if constexpr (Pages::has_whole_units) {
      Unit::template fetch_whole<unit_keys>(from, tile);
    } else {
      Unit::fetch(parameters, pages, from, 0, unit_keys, tile);
    }
  }
  // A group of copies is closed where there is nothing to fetch too: waiting counts groups.
  INGOT_ON_DEVICE void fetch_keys(unsigned unit, UnitPlaces from) const {
    if (unit < units) fetch(parameters.keys, from.key, tiles);
    commit_copies();
  }
  INGOT_ON_DEVICE void fetch_values(unsigned unit, UnitPlaces from) const {
    if (unit < units) fetch(parameters.values, from.value, tiles + Unit::tile_bytes);
    commit_copies();
  }

  INGOT_ON_DEVICE float* results_of(unsigned step, unsigned warp) const {
    return results + (step % rounds * warps + warp) * rows.count * Unit::width;
  }

  // Products to weights; keeps what their state is.
  INGOT_ON_DEVICE void weigh(unsigned step, UnitWeights& weights) const {
    const unsigned unit = step * warps + warp_index();
    if (!Pages::has_whole_units && has_rules(parameters)) {
      bound_scores(parameters, unit_begin(unit), of_lane, weights);
    } else {
      scale_scores(parameters, of_lane, weights);
    }
    hide_scores(unit_begin(unit), of_lane, weights);
    if (shared.is_careful) shared.weightless[warp_index()][lane_index()] = weightless_scores(of_lane, weights);
    RowState states[2];
    weigh_unit(weights, of_lane.has_second, states);
    if (lane_index() % 4 != 0) return;
    RowState(&of_warp)[Pages::rows] = shared.states[step % rounds][warp_index()];
    of_warp[lane_index() / 4] = states[0];
    if constexpr (Pages::rows > 8) {
      if (of_lane.has_second) of_warp[lane_index() / 4 + 8] = states[1];
    }
  }

  INGOT_ON_DEVICE void mix(unsigned step, const UnitWeights& weights) const {
    using Mixed = std::conditional_t<Pages::has_whole_units, typename Unit::MixedFew, MixedBlock>;
    const unsigned count = Pages::rows < rows.count ? Pages::rows : rows.count;
    float* const of_warp = results_of(step, warp_index());
    Unit::template mix<Mixed>(weights, of_lane.has_second, width_of(parameters.values), tiles + Unit::tile_bytes, notes,
                              [&](unsigned block, Mixed& mixed) { Unit::store(mixed, block, count, of_warp); });
  }
  // Values that are no numbers, to all rows: they see the same keys.
  INGOT_ON_DEVICE void add_specials(unsigned step, UnitPlaces places) const {
    const unsigned unit = step * warps + warp_index();
    if constexpr (Pages::has_whole_units) places = own_places(parameters, places, unit_begin(unit), split.keys);
    float* const of_warp = results_of(step, warp_index());
    synchronize_warp();
    INGOT_ROLLED
    for (unsigned key = 0; key < unit_keys; ++key) {
      const std::byte* const row = row_of_lane(places.value, key);
      if (row == nullptr) continue;
      INGOT_ROLLED
      for (unsigned i = lane_index(); i < rows.count * Unit::width; i += warp_size) {
        if (i % Unit::width >= parameters.values.width) continue;
        const float special = Unit::special_at(row, i % Unit::width);
        if (special == 0) continue;
        const unsigned of_row = i / Unit::width;
        const std::uint32_t weightless = shared.weightless[warp_index()][lane_of_score(of_row % 8, key)];
        of_warp[i] += weighed_special(special, weightless, key, of_row / 8);
      }
    }
  }

  // One unit: its keys are there or on their way, and its values behind them. Returns where the next one lies.
  INGOT_ON_DEVICE UnitPlaces attend_unit(const typename Unit::Queries& queries, unsigned step, UnitPlaces places) {
    const unsigned unit = step * warps + warp_index();
    const unsigned next = unit + warps;
    UnitWeights weights;
    wait_for_copies<1>();
    synchronize_warp();
    Unit::score(queries, width_of(parameters.keys), tiles, notes, weights);
    synchronize_warp();
    const UnitPlaces places_next = places_at(step + 1);
    fetch_keys(next, places_next);
    weigh(step, weights);
    wait_for_copies<1>();
    if (shared.is_careful) {
      synchronize_warp();  // other lanes' copies are there too
      Unit::take_specials(0, unit_keys, tiles + Unit::tile_bytes);
    }
    synchronize_warp();
    mix(step, weights);
    if (shared.is_careful) add_specials(step, places);
    synchronize_warp();
    fetch_values(next, places_next);
    return places_next;
  }

  // What a round of so many units left, in the order of keys. Each warp has rows of its own, each lane dimensions.
  INGOT_ON_DEVICE void join_round(unsigned step, unsigned count, Joined& joined) const {
    INGOT_UNROLL
    for (unsigned i = 0; i < rows_of_warp; ++i) {
      const unsigned row = warp_index() + i * warps;
      if (row >= rows.count) break;
      INGOT_UNROLL
      for (unsigned unit = 0; unit < warps; ++unit) {
        if (unit >= count) break;
        const RowState state = shared.states[step % rounds][unit][row];
        const Shares shares = join_split<PowersOf2>(joined.states[i], state.maximum, state.sum);
        const float* const added = results_of(step, unit) + row * Unit::width + lane_index() * lane_dimensions;
        INGOT_UNROLL
        for (unsigned j = 0; j < lane_dimensions; ++j) {
          joined.outputs[i][j] = join_outputs(joined.outputs[i][j], added[j], shares);
        }
      }
    }
  }

  // Returns whether anything of what this thread keeps is no number.
  INGOT_ON_DEVICE bool keep(const Joined& joined) const {
    bool is_strange = false;
    const unsigned group = parameters.head_group;
    INGOT_UNROLL
    for (unsigned i = 0; i < rows_of_warp; ++i) {
      const unsigned row = warp_index() + i * warps;
      if (row >= rows.count) break;
      const unsigned token = rows.token(row, group);
      const unsigned head = rows.head(row, group);
      RowState state = first_state(parameters, head);
      float* to = &parameters.y(rows.batch, head, token, 0);
      Shares shares = {1, 1};
      if (split.is_alone) {
        shares = join_split<PowersOf2>(state, joined.states[i].maximum, joined.states[i].sum);
      } else {
        to = parameters.partial(token, head, split_index());
        if (lane_index() == 0) to[parameters.values.width] = joined.states[i].maximum;
        if (lane_index() == 0) to[parameters.values.width + 1] = joined.states[i].sum;
      }
      const float inverse = inverse_sum(state);
      INGOT_UNROLL
      for (unsigned j = 0; j < lane_dimensions; ++j) {
        const unsigned dimension = lane_index() * lane_dimensions + j;
        if (dimension >= parameters.values.width) break;
        const float output = joined.outputs[i][j];
        is_strange = is_strange || !is_finite(output);
        to[dimension] = split.is_alone ? join_outputs(0, output, shares) * inverse : output;
      }
    }
    return is_strange;
  }

  // All units of the split. Returns whether this thread has a result that is no number.
  INGOT_ON_DEVICE bool attend() {
    UnitPlaces places = places_at(0);
    fetch_keys(warp_index(), places);
    fetch_values(warp_index(), places);
    typename Unit::Queries queries;
    if constexpr (Pages::has_whole_units && Unit::rounds > 1) {
      // Where results of the last round will be: of a second one, whose first writer has met all warps behind the
      // first.
      using SharedQueries = typename Unit::SharedQueries;
      static_assert(sizeof(SharedQueries) <= warps * Unit::width * sizeof(float));
      auto& of_block = *reinterpret_cast<SharedQueries*>(results_of(rounds - 1, 0));
      Unit::share_queries(parameters, rows, of_block);
      synchronize_block();
      Unit::load_shared_queries(of_block, queries);
      if constexpr (rounds == 1) synchronize_block();
    } else {
      Unit::load_queries(parameters, rows, 0, of_lane.has_second, width_of(parameters.keys), queries);
    }
    Joined joined = {};
    INGOT_UNROLL
    for (RowState& state : joined.states) state = {-infinity, 0};
    INGOT_ROLLED
    for (unsigned step = 0; step * warps < units; ++step) {
      const unsigned left = units - step * warps;
      if (warp_index() < left) places = attend_unit(queries, step, places);
      synchronize_block();
      join_round(step, left < warps ? left : warps, joined);
      if constexpr (rounds == 1) synchronize_block();
    }
    return keep(joined);
  }
};

template <class Unit, class Pages, unsigned Warps = Unit::token_warps>
INGOT_ON_DEVICE void attend_token(const AttendedRows& parameters) {
  using Split = TokenSplit<Unit, Pages, Warps>;
  INGOT_SHARED typename Split::Shared shared[1];
  const TileRows rows = tile_of_token<Pages::rows>(parameters);
  const SplitKeys split = split_of_block(parameters, parameters.seen_from(rows.first_position));
  if (split.keys.begin >= split.keys.end) return;  // the whole block
  constexpr unsigned warp_bytes = 2 * Unit::tile_bytes + Unit::notes_bytes;
  auto* const tiles = dynamic_shared<std::byte>();
  UnitRows of_lane = {};
  if constexpr (!Pages::has_whole_units) of_lane = rows_of_lane(parameters, rows, 0);
  INGOT_UNROLL
  for (DeviceKeys& seen : of_lane.seen) seen = split.keys;
  Split token = {
      .parameters = parameters,
      .rows = rows,
      .split = split,
      .units =
          static_cast<unsigned>(split.keys.end - split.first + static_cast<std::int32_t>(unit_keys) - 1) / unit_keys,
      .tiles = tiles + warp_index() * warp_bytes,
      .notes = tiles + warp_index() * warp_bytes + 2 * Unit::tile_bytes,
      .results = reinterpret_cast<float*>(tiles + Warps * warp_bytes),
      .shared = shared[0],
      .of_lane = of_lane,
      .unit_pages = {}};
  // Values that are no numbers are rare, and show in what comes out.
  INGOT_ROLLED
  for (unsigned round = 0; round < 2; ++round) {
    if (thread_index() == 0) shared[0].is_careful = round == 1;
    synchronize_block();
    if (!any_thread(token.attend())) return;
  }
}

}  // namespace ingot::device
