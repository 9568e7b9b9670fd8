// Rows of attention on a device: which ones a block has, what makes a score of a product, and how parts of a row's keys
// are joined.
#pragma once

#include "kernels/attention/attend_cuda.h"
#include "kernels/device/numbers.h"
#include "kernels/device/warp.h"

namespace ingot::device {

// Which rows: heads of a group, of tokens that follow each other. Row r of the tile is head `row(r) % group` of token
// `row(r) / group` of its run.
struct TileRows {
  unsigned batch = 0;
  unsigned sequence = 0;
  unsigned key_head = 0;
  unsigned first_token = 0;  // of the run, in q
  unsigned first_row = 0;    // of the tile, in the run
  unsigned count = 0;
  std::int64_t first_position = 0;  // of the run

  INGOT_ON_DEVICE unsigned token(unsigned row, unsigned group) const { return first_token + (first_row + row) / group; }
  INGOT_ON_DEVICE unsigned head(unsigned row, unsigned group) const {
    return key_head * group + (first_row + row) % group;
  }
  INGOT_ON_DEVICE std::int64_t position(unsigned row, unsigned group) const {
    return first_position + (first_row + row) / group;
  }
};

// The score that was taken out of weights, and their sum, of all splits so far.
struct RowState {
  float maximum;
  float sum;
};

struct Shares {
  float before;
  float added;
};

// What scores are exponents of: of e, or, where matrix units make them, of 2, which takes an instruction.
inline constexpr float log2_of_e = 1.44269504f;
struct PowersOfE {
  static INGOT_ON_DEVICE float raise(float score) { return exponential(score); }
};
struct PowersOf2 {
  static INGOT_ON_DEVICE float raise(float score) { return approximate_exponential_of_2(score); }
};

// Joins a split to those before it: what both weigh from here on.
template <class Powers>
INGOT_ON_DEVICE Shares join_split(RowState& state, float split_maximum, float split_sum) {
  const float largest = maximum(state.maximum, split_maximum);
  const float taken = largest == -infinity ? 0 : largest;
  const Shares shares = {Powers::raise(state.maximum - taken), Powers::raise(split_maximum - taken)};
  state.maximum = largest;
  state.sum = fused_multiply_add(state.sum, shares.before, split_sum * shares.added);
  return shares;
}
INGOT_ON_DEVICE float join_outputs(float before, float added, Shares shares) {
  return fused_multiply_add(before, shares.before, added * shares.added);
}
INGOT_ON_DEVICE float inverse_sum(const RowState& state) { return state.sum == 0 ? 0 : 1.0f / state.sum; }

INGOT_ON_DEVICE RowState first_state(const AttendedRows& parameters, unsigned head) {
  if (parameters.sinks.data == nullptr) return {-infinity, 0};
  return {parameters.by_matrix_units ? parameters.sinks(head) * log2_of_e : parameters.sinks(head), 1};
}

INGOT_ON_DEVICE float score_of(const AttendedRows& parameters, const TileRows& rows, unsigned row, float product,
                               std::int32_t key) {
  const unsigned head = rows.head(row, parameters.head_group);
  float score = product * parameters.scale;
  if (parameters.softcap > 0) score = parameters.softcap * hyperbolic_tangent(score / parameters.softcap);
  if (parameters.alibi_slopes.data != nullptr) {
    const std::int64_t distance = rows.position(row, parameters.head_group) - key;
    score = fused_multiply_add(-parameters.alibi_slopes(head), absolute(static_cast<float>(distance)), score);
  }
  if (parameters.mask.data == nullptr) return score;
  return score + parameters.mask(rows.batch, head, rows.token(row, parameters.head_group), key);
}

// Of a token that is the last of its sequence: a tile of the heads of a group. Blocks are [tile][split][token and key
// head]: divisions would come before the first load.
INGOT_ON_DEVICE unsigned split_index() { return block_index_y(); }
template <unsigned Rows>
INGOT_ON_DEVICE TileRows tile_of_token(const AttendedRows& parameters) {
  TileRows rows;
  rows.first_row = block_index_z() * Rows;
  rows.sequence = block_index() / parameters.key_heads;
  rows.key_head = block_index() - rows.sequence * parameters.key_heads;
  rows.first_token = rows.sequence;
  const unsigned left = parameters.head_group - rows.first_row;
  rows.count = left < Rows ? left : Rows;
  rows.first_position = parameters.lengths(rows.sequence) - 1;
  return rows;
}

// Of runs: tiles of all of them in order. There are fewer than blocks, which are as many as runs of any lengths take.
template <unsigned Rows>
INGOT_ON_DEVICE TileRows tile_of_runs(const AttendedRows& parameters) {
  TileRows rows;
  rows.key_head = block_index() % parameters.key_heads;
  unsigned tile = block_index() / parameters.key_heads;
  for (unsigned run = 0; run < parameters.sequences; ++run) {
    const std::int32_t first = parameters.run_begins(run);
    const std::int32_t tokens = parameters.run_begins(run + 1) - first;
    const unsigned total = static_cast<unsigned>(tokens) * parameters.head_group;
    const unsigned tiles = (total + Rows - 1) / Rows;
    if (tile < tiles) {
      rows.sequence = run;
      rows.first_token = static_cast<unsigned>(first);
      rows.first_row = tile * Rows;
      rows.count = total - rows.first_row < Rows ? total - rows.first_row : Rows;
      rows.first_position = parameters.lengths(run) - tokens;
      return rows;
    }
    tile -= tiles;
  }
  return rows;
}

// Of batches: each has as many tokens.
template <unsigned Rows>
INGOT_ON_DEVICE TileRows tile_of_batches(const AttendedRows& parameters) {
  const unsigned total = parameters.q.sizes[2] * parameters.head_group;
  const unsigned tiles = (total + Rows - 1) / Rows;
  TileRows rows;
  rows.key_head = block_index() % parameters.key_heads;
  const unsigned tile = block_index() / parameters.key_heads;
  rows.batch = tile / tiles;
  rows.sequence = rows.batch;
  rows.first_row = tile % tiles * Rows;
  rows.count = total - rows.first_row < Rows ? total - rows.first_row : Rows;
  rows.first_position = parameters.query_offset;
  return rows;
}

}  // namespace ingot::device
