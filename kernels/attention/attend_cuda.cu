#include "kernels/attention/attend_cuda.h"

#include "kernels/attention/attend_scores_device.h"

// Budget of attend_rows_4: 80 registers, 25 KiB shared. Four rows of sums, values of four keys, and a
// split of weights. Budget of attend_rows_16: 168 registers, 43 KiB shared. The same of sixteen rows:
// 64 sums a thread.
namespace ingot::device {
namespace {

constexpr auto split_length = static_cast<std::int32_t>(split_keys);

// Values of four keys, weighed by each row that sees them, in the order of keys.
template <unsigned Rows>
INGOT_ON_DEVICE void mix_quad(const SharedTile<Rows>& tile, std::int32_t split_begin, unsigned key,
                              const float (&values)[4][group_floats], float (&sums)[Rows][group_floats]) {
  const std::int32_t position = split_begin + static_cast<std::int32_t>(key);
  INGOT_UNROLL
  for (unsigned row = 0; row < Rows; ++row) {
    const std::int32_t begin = tile.seen[row].begin - position;
    const std::int32_t end = tile.seen[row].end - position;
    const Words16 weights = load16(tile.weights[row] + key);
    INGOT_UNROLL
    for (unsigned k = 0; k < 4; ++k) {
      // What is not seen may hold anything, and is not multiplied by zero.
      if (static_cast<std::int32_t>(k) < begin || static_cast<std::int32_t>(k) >= end) continue;
      INGOT_UNROLL
      for (unsigned j = 0; j < group_floats; ++j) {
        sums[row][j] = fused_multiply_add(float_of_bits(weights.words[k]), values[k][j], sums[row][j]);
      }
    }
  }
}

// A warp's share of the split: every eighth four keys, four dimensions a lane.
template <unsigned Rows, class Pages>
INGOT_ON_DEVICE void mix_share(const DevicePages& pages, const SharedTile<Rows>& tile, std::int32_t split_begin,
                               unsigned at, float (&sums)[Rows][group_floats]) {
  if (at >= pages.width) return;
  for (unsigned key = 4 * warp_index(); key < split_keys; key += 4 * attention_warps) {
    float values[4][group_floats] = {};
    bool is_seen = false;
    INGOT_UNROLL
    for (unsigned k = 0; k < 4; ++k) {
      const std::byte* const row = tile.value_rows[key + k];
      if (row == nullptr) continue;
      Pages::load(pages, row, at, values[k]);
      is_seen = true;
    }
    if (is_seen) mix_quad(tile, split_begin, key, values, sums);
  }
}

// What a row's split gives to one dimension of its result.
template <unsigned Rows>
INGOT_ON_DEVICE void keep_output(const AttendedRows& parameters, const TileRows& rows, const SharedTile<Rows>& tile,
                                 std::int32_t split_begin, unsigned row, unsigned dimension, float output) {
  const std::int32_t begin = tile.seen[row].begin;
  const std::int32_t end = tile.seen[row].end;
  if (end <= split_begin || begin - split_begin >= split_length) return;
  const unsigned token = rows.token(row, parameters.head_group);
  const unsigned head = rows.head(row, parameters.head_group);
  const std::int32_t first = begin / split_length * split_length;
  if (parameters.partials != nullptr) {
    parameters.partial(token, head, static_cast<unsigned>(split_begin - first) / split_keys)[dimension] = output;
    return;
  }
  float& y = parameters.y(rows.batch, head, token, dimension);
  const float joined = join_outputs(split_begin == first ? 0 : y, output, tile.shares[row]);
  const bool is_last = end - split_begin <= split_length;
  y = is_last ? joined * inverse_sum(tile.state[row]) : joined;
}

template <unsigned Rows>
INGOT_ON_DEVICE void mix_values(const AttendedRows& parameters, const TileRows& rows, std::int32_t split_begin,
                                SharedTile<Rows>& tile) {
  for (unsigned at = 0; at < parameters.values.width; at += value_chunk) {
    float sums[Rows][group_floats] = {};
    with_pages(parameters.values.dtype, [&]<class Pages>() {
      mix_share<Rows, Pages>(parameters.values, tile, split_begin, at + group_floats * lane_index(), sums);
    });
    INGOT_UNROLL
    for (unsigned first = 0; first < Rows; first += summed_rows) {
      if (first >= rows.count) break;
      INGOT_UNROLL
      for (unsigned row = 0; row < summed_rows; ++row) {
        store_group(sums[first + row], tile.sums[warp_index()][row], group_floats * lane_index(), value_chunk, true);
      }
      synchronize_block();
      for (unsigned i = thread_index(); i < summed_rows * value_chunk; i += split_keys) {
        const unsigned row = i / value_chunk;
        const unsigned dimension = i % value_chunk;
        if (first + row >= rows.count || at + dimension >= parameters.values.width) continue;
        float output = tile.sums[0][row][dimension];
        for (unsigned warp = 1; warp < attention_warps; ++warp) output = output + tile.sums[warp][row][dimension];
        keep_output(parameters, rows, tile, split_begin, first + row, at + dimension, output);
      }
      synchronize_block();
    }
  }
}

template <unsigned Rows>
INGOT_ON_DEVICE TileRows tile_of_block(const AttendedRows& parameters) {
  if (parameters.lengths.data == nullptr) return tile_of_batches<Rows>(parameters);
  if (parameters.run_begins.data != nullptr) return tile_of_runs<Rows>(parameters);
  return tile_of_token<Rows>(parameters);
}

// Rows that see nothing, and what was asked for beside the results.
template <unsigned Rows>
INGOT_ON_DEVICE void finish_rows(const AttendedRows& parameters, const TileRows& rows, const SharedTile<Rows>& tile) {
  const unsigned group = parameters.head_group;
  for (unsigned row = warp_index(); row < rows.count; row += attention_warps) {
    const unsigned token = rows.token(row, group);
    const unsigned head = rows.head(row, group);
    if (parameters.log_sum_exp.data != nullptr && lane_index() == 0) {
      const RowState state = tile.state[row];
      parameters.log_sum_exp(rows.batch, head, token) =
          state.sum == 0 ? -infinity : state.maximum + logarithm(state.sum);
    }
    if (tile.seen[row].begin < tile.seen[row].end) continue;
    for (unsigned i = lane_index(); i < parameters.values.width; i += warp_size) {
      parameters.y(rows.batch, head, token, i) = 0;
    }
  }
}

template <unsigned Rows>
INGOT_ON_DEVICE void attend(const AttendedRows& parameters) {
  INGOT_SHARED SharedTile<Rows> shared[1];
  SharedTile<Rows>& tile = shared[0];
  const TileRows rows = tile_of_block<Rows>(parameters);
  if (rows.count == 0) return;  // the whole block
  const unsigned group = parameters.head_group;
  if (thread_index() < Rows) {
    const unsigned row = thread_index();
    const bool is_there = row < rows.count;
    tile.seen[row] = is_there ? parameters.seen_from(rows.position(row, group)) : DeviceKeys{0, 0};
    if (is_there) tile.state[row] = first_state(parameters, rows.head(row, group));
  }
  if (parameters.keys.dtype == DType::f16) find_half_scales(parameters, rows, tile);
  synchronize_block();
  // Later tokens see from later positions on, and as far or farther.
  const DeviceKeys any = {tile.seen[0].begin, tile.seen[rows.count - 1].end};
  std::int32_t split_begin = any.begin / split_length * split_length;
  std::int32_t left = any.end - split_begin;  // positions of the split and behind it
  if (parameters.partials != nullptr) {
    const unsigned split = split_index();
    if (left <= 0 || split > static_cast<unsigned>(left - 1) / split_keys) return;
    split_begin += static_cast<std::int32_t>(split * split_keys);
    left = 1;
  }
  for (bool is_first = true; left > 0; is_first = false) {
    score_keys(parameters, rows, split_begin, is_first, any, tile);
    synchronize_block();
    weigh_keys(parameters, rows, split_begin, tile);
    synchronize_block();
    mix_values(parameters, rows, split_begin, tile);
    left -= split_length;
    if (left > 0) split_begin += split_length;
  }
  if (parameters.partials == nullptr) finish_rows(parameters, rows, tile);
}

}  // namespace

INGOT_DEVICE_FUNCTION(attend_rows_4, AttendedRows, 256) { attend<4>(parameters); }

INGOT_DEVICE_FUNCTION(attend_rows_16, AttendedRows, 256) { attend<16>(parameters); }

}  // namespace ingot::device
