// A unit of attention on matrix units: 32 keys against 16 rows, by one warp. What it makes of them, its largest score,
// the sum of its weights and the weighted values, depends on nothing but the row, its keys and values: prompts and
// single tokens differ in how units are fetched and joined, never in what they are.
//
// A lane has scores of rows g and g + 8, with g = lane / 4 and t = lane % 4: of keys 8 j + 2 t and the next, tile j.
// That is what one product leaves and what the next one takes as its left factor (kernels/device/matrix.h).
#pragma once

#include "kernels/attention/attend_tile_device.h"
#include "kernels/device/matrix.h"

namespace ingot::device {

inline constexpr unsigned unit_keys = 32;
inline constexpr unsigned unit_tiles = unit_keys / 8;
inline constexpr unsigned warp_rows = 16;
inline constexpr unsigned matrix_warps = 4;  // of a block
inline constexpr unsigned block_width = 32;  // dimensions of values that are mixed at once: four tiles of eight

// Any pages and rules.
struct AnyPages {
  static constexpr bool has_whole_units = false;
  static constexpr unsigned rows = warp_rows;  // of a single token
};
// Units that lie in one piece, whatever of them is seen, in rows as wide as tiles, without rules; of single tokens up
// to eight heads. By far the most models are so, and what the other asks for each unit is known before.
struct WholeUnits {
  static constexpr bool has_whole_units = true;
  static constexpr unsigned rows = 8;
};
template <class Unit, class Pages>
INGOT_ON_DEVICE unsigned width_in(const DevicePages& pages) {
  return Pages::has_whole_units ? Unit::width : pages.width;
}

// Of rows g and g + 8: what is the same for all keys.
struct UnitRows {
  DeviceKeys seen[2];
  float slopes[2];  // of ALiBi
  bool has_second;  // whether any lane has a second row
};

// Rows of a tile from `first_row` on; those that are not there see nothing.
INGOT_ON_DEVICE UnitRows rows_of_lane(const AttendedRows& parameters, const TileRows& rows, unsigned first_row) {
  const unsigned group = parameters.head_group;
  UnitRows result;
  result.has_second = rows.count > first_row + 8;
  INGOT_UNROLL
  for (unsigned second = 0; second < 2; ++second) {
    const unsigned row = first_row + lane_index() / 4 + 8 * second;
    const bool is_there = row < rows.count;
    result.seen[second] = is_there ? parameters.seen_from(rows.position(row, group)) : DeviceKeys{0, 0};
    const bool has_slope = is_there && parameters.alibi_slopes.data != nullptr;
    result.slopes[second] = has_slope ? parameters.alibi_slopes(rows.head(row, group)) : 0;
  }
  return result;
}

// The query of a row of the tile, null where it is not there.
INGOT_ON_DEVICE const float* query_of(const AttendedRows& parameters, const TileRows& rows, unsigned row) {
  const unsigned group = parameters.head_group;
  if (row >= rows.count) return nullptr;
  return &parameters.q(rows.batch, rows.head(row, group), rows.token(row, group), 0);
}

// Scores at first, as exponents of 2, then weights.
struct UnitWeights {
  float values[unit_tiles][4];
  std::uint32_t seen;  // bit 4 tile + i: whether row and key of that value see each other
  bool is_whole;       // whether they all do, in all lanes
};

// Where keys and values of a unit lie: those of a lane's own position, null where nobody sees it. Pages of whole units
// hold each unit in one piece, and it is enough to know where that begins.
struct UnitPlaces {
  const std::byte* key;
  const std::byte* value;
};
INGOT_ON_DEVICE UnitPlaces places_in(const AttendedRows& parameters, const TileRows& rows, std::uint32_t page,
                                     std::uint32_t token) {
  return {parameters.keys.row(page, rows.key_head, token), parameters.values.row(page, rows.key_head, token)};
}
// The page and the token in it that hold a position.
struct PagePlace {
  std::uint32_t page;
  std::uint32_t token;
};
INGOT_ON_DEVICE PagePlace place_of(const AttendedRows& parameters, const TileRows& rows, std::int32_t position) {
  // Divisions wait longer than loads from a near cache: most caches are no rings, and most pages powers of two.
  auto token = static_cast<std::uint32_t>(position);
  if (token >= parameters.wraps_at) token %= parameters.wraps_at;
  if (parameters.block_table.data == nullptr) return {rows.sequence, token};
  const std::uint32_t index =
      parameters.page_shift < 32 ? token >> parameters.page_shift : token / parameters.page_length;
  return {static_cast<std::uint32_t>(parameters.block_table(rows.sequence, index)),
          token - index * parameters.page_length};
}
// The row that another lane has.
INGOT_ON_DEVICE const std::byte* row_of_lane(const std::byte* row, unsigned lane) {
  return reinterpret_cast<const std::byte*>(shuffle_index(reinterpret_cast<std::uintptr_t>(row), lane));
}

// Where units of whole pieces begin: a look into the table for 32 of them, a lane each.
struct UnitPages {
  UnitPlaces of_lane = {};

  INGOT_ON_DEVICE void find(const AttendedRows& parameters, const TileRows& rows, std::int32_t unit_begin) {
    const PagePlace place = place_of(parameters, rows, unit_begin);
    of_lane = places_in(parameters, rows, place.page, place.token);
  }
  INGOT_ON_DEVICE UnitPlaces at(unsigned lane) const {
    return {row_of_lane(of_lane.key, lane), row_of_lane(of_lane.value, lane)};
  }
};
// Those of a lane's own position, from where the unit begins.
INGOT_ON_DEVICE UnitPlaces own_places(const AttendedRows& parameters, UnitPlaces first, std::int32_t unit_begin,
                                      DeviceKeys any) {
  const std::int32_t own = unit_begin + static_cast<std::int32_t>(lane_index());
  if (own < any.begin || own >= any.end) return {nullptr, nullptr};
  return {first.key + lane_index() * parameters.keys.token_stride,
          first.value + lane_index() * parameters.values.token_stride};
}
INGOT_ON_DEVICE UnitPlaces places_of(const AttendedRows& parameters, const TileRows& rows, std::int32_t unit_begin,
                                     DeviceKeys any) {
  const bool in_one_piece = parameters.page_length % unit_keys == 0;
  const std::int32_t position = in_one_piece ? unit_begin : unit_begin + static_cast<std::int32_t>(lane_index());
  if (!in_one_piece && (position < any.begin || position >= any.end)) return {nullptr, nullptr};
  const PagePlace place = place_of(parameters, rows, position);
  const UnitPlaces places = places_in(parameters, rows, place.page, place.token);
  return in_one_piece ? own_places(parameters, places, unit_begin, any) : places;
}
// The row of key 0 of a unit that lies in one piece and is seen in whole; null where it does not or is not.
INGOT_ON_DEVICE const std::byte* piece_of(const AttendedRows& parameters, const std::byte* lane_row) {
  if (parameters.page_length % unit_keys != 0 || !all_lanes(lane_row != nullptr)) return nullptr;
  return reinterpret_cast<const std::byte*>(shuffle_index(reinterpret_cast<std::uintptr_t>(lane_row), 0));
}
// function(score, tile, i, key) of each that a lane has.
template <class Function>
INGOT_ON_DEVICE void for_each_score(const UnitRows& rows, UnitWeights& scores, Function&& function) {
  INGOT_UNROLL
  for (unsigned i = 0; i < 4; ++i) {
    if (i >= 2 && !rows.has_second) break;
    INGOT_UNROLL
    for (unsigned tile = 0; tile < unit_tiles; ++tile) {
      const auto key = static_cast<std::int32_t>(8 * tile + lane_index() % 4 * 2 + i % 2);
      function(scores.values[tile][i], tile, i, key);
    }
  }
}

// Products to scores, by the rules that models seldom have. Each is a loop of its own, and stepped over in one piece.
INGOT_ON_DEVICE void bound_scores(const AttendedRows& parameters, std::int32_t unit_begin, const UnitRows& rows,
                                  UnitWeights& scores) {
  for_each_score(rows, scores,
                 [&](float& score, unsigned, unsigned, std::int32_t) { score = score * parameters.scale; });
  if (parameters.softcap > 0) {
    for_each_score(rows, scores, [&](float& score, unsigned, unsigned, std::int32_t) {
      score = parameters.softcap * hyperbolic_tangent(score / parameters.softcap);
    });
  }
  if (parameters.alibi_slopes.data != nullptr) {
    for_each_score(rows, scores, [&](float& score, unsigned, unsigned i, std::int32_t key) {
      // A token sees up to itself.
      const std::int32_t distance = rows.seen[i / 2].end - 1 - unit_begin - key;
      score = fused_multiply_add(-rows.slopes[i / 2], absolute(static_cast<float>(distance)), score);
    });
  }
  for_each_score(rows, scores, [&](float& score, unsigned, unsigned, std::int32_t) { score = score * log2_of_e; });
}
INGOT_ON_DEVICE void scale_scores(const AttendedRows& parameters, const UnitRows& rows, UnitWeights& scores) {
  const float factor = parameters.scale * log2_of_e;
  for_each_score(rows, scores, [&](float& score, unsigned, unsigned, std::int32_t) { score = score * factor; });
}
INGOT_ON_DEVICE bool has_rules(const AttendedRows& parameters) {
  return parameters.softcap > 0 || parameters.alibi_slopes.data != nullptr;
}

// What a row does not see has no score.
INGOT_ON_DEVICE void hide_scores(std::int32_t unit_begin, const UnitRows& rows, UnitWeights& scores) {
  constexpr auto length = static_cast<std::int32_t>(unit_keys);
  scores.seen = 0xffff;
  scores.is_whole =
      all_lanes(rows.seen[0].begin <= unit_begin && rows.seen[0].end - unit_begin >= length &&
                (!rows.has_second || (rows.seen[1].begin <= unit_begin && rows.seen[1].end - unit_begin >= length)));
  if (scores.is_whole) return;
  scores.seen = 0;
  for_each_score(rows, scores, [&](float& score, unsigned tile, unsigned i, std::int32_t key) {
    const bool is_seen = key >= rows.seen[i / 2].begin - unit_begin && key < rows.seen[i / 2].end - unit_begin;
    if (is_seen) scores.seen |= 1u << (4 * tile + i);
    if (!is_seen) score = -infinity;
  });
}

// A score of minus infinity weighs nothing at all; what is merely too small for a float does weigh something. Values
// that are numbers do not tell these apart, those that are none do. Bits as those of `seen`.
INGOT_ON_DEVICE std::uint32_t weightless_scores(const UnitRows& rows, UnitWeights& scores) {
  std::uint32_t weightless = 0;
  for_each_score(rows, scores, [&](float score, unsigned tile, unsigned i, std::int32_t) {
    if (score == -infinity) weightless |= 1u << (4 * tile + i);
  });
  return weightless;
}
// The lane that has the scores of a key in rows g and g + 8.
INGOT_ON_DEVICE unsigned lane_of_score(unsigned group, unsigned key) { return 4 * group + key % 8 / 2; }
// What a value that is no number adds to row g or g + 8, of that lane's bits: infinity times nothing is NaN.
INGOT_ON_DEVICE float weighed_special(float special, std::uint32_t weightless, unsigned key, unsigned second) {
  return (weightless >> (key / 8 * 4 + 2 * second + key % 2) & 1) != 0 ? special * 0 : special;
}

// The largest weight of a unit is 2 to this power: as halves, weights lose nothing but what is below 2^-39 of it.
inline constexpr float weight_exponent = 14;

// Scores to weights; the state of a unit that a row does not see at all has no sum.
INGOT_ON_DEVICE RowState weigh_unit(UnitWeights& scores, unsigned second) {
  float largest = -infinity;
  INGOT_UNROLL
  for (unsigned tile = 0; tile < unit_tiles; ++tile) {
    largest = maximum(largest, maximum(scores.values[tile][2 * second], scores.values[tile][2 * second + 1]));
  }
  largest = maximum(largest, shuffle_xor(largest, 1));
  largest = maximum(largest, shuffle_xor(largest, 2));
  const float reference = largest - weight_exponent;
  const float taken = largest == -infinity ? 0 : reference;
  float sum = 0;
  INGOT_UNROLL
  for (unsigned tile = 0; tile < unit_tiles; ++tile) {
    INGOT_UNROLL
    for (unsigned i = 2 * second; i < 2 * second + 2; ++i) {
      scores.values[tile][i] = PowersOf2::raise(scores.values[tile][i] - taken);
      sum = sum + scores.values[tile][i];
    }
  }
  sum = sum + shuffle_xor(sum, 1);
  sum = sum + shuffle_xor(sum, 2);
  return {reference, sum};
}

INGOT_ON_DEVICE void weigh_unit(UnitWeights& scores, bool has_second, RowState (&states)[2]) {
  states[0] = weigh_unit(scores, 0);
  states[1] = {-infinity, 0};
  if (has_second) states[1] = weigh_unit(scores, 1);
}

// A float as two halves, as left factors of products: what the first loses the second has. Weights of a row that is not
// there are not looked at.
struct SplitWeights {
  MatrixA high[unit_keys / 16];
  MatrixA low[unit_keys / 16];

  INGOT_ON_DEVICE SplitWeights(const float (&weights)[unit_tiles][4], bool has_second) {
    INGOT_UNROLL
    for (unsigned tile = 0; tile < unit_tiles; ++tile) {
      INGOT_UNROLL
      for (unsigned row = 0; row < 2; ++row) {
        std::uint32_t halves = 0;
        std::uint32_t rest = 0;
        if (row == 0 || has_second) {
          const float first = weights[tile][2 * row];
          const float second = weights[tile][2 * row + 1];
          halves = pack_halves(first, second);
          rest = pack_halves(first - first_half(halves), second - second_half(halves));
        }
        high[tile / 2].words[tile % 2 * 2 + row] = halves;
        low[tile / 2].words[tile % 2 * 2 + row] = rest;
      }
    }
  }

  // As right factors, of the first eight rows.
  INGOT_ON_DEVICE MatrixB high_of_eight(unsigned step) const { return {{high[step].words[0], high[step].words[2]}}; }
  INGOT_ON_DEVICE MatrixB low_of_eight(unsigned step) const { return {{low[step].words[0], low[step].words[2]}}; }
};

// Weighted values of 32 dimensions: tile n, as a product leaves them.
struct MixedBlock {
  FloatSums tiles[4];
};
// The same of up to eight rows, with values as the left factor: half as many products, for none has rows that are not
// there. A product and its transpose have the same bits (measured: docs/performance/gpu.md).
struct TurnedBlock {
  FloatSums tiles[2];
};

}  // namespace ingot::device
