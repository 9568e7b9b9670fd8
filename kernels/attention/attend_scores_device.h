// The first half of attention on a device: a split's scores, a thread a key, and what they weigh.
#pragma once

#include "kernels/attention/attend_tile_device.h"
#include "kernels/device/half_scale.h"
#include "kernels/vector/activation_codes.h"

namespace ingot::device {

// The scale of each row's query, where it meets halves. A warp a row.
template <unsigned Rows>
INGOT_ON_DEVICE void find_half_scales(const AttendedRows& parameters, const TileRows& rows, SharedTile<Rows>& tile) {
  const unsigned group = parameters.head_group;
  for (unsigned row = warp_index(); row < rows.count; row += attention_warps) {
    const float* const query = &parameters.q(rows.batch, rows.head(row, group), rows.token(row, group), 0);
    std::uint32_t largest = 0;
    for (unsigned i = lane_index(); i < parameters.keys.width; i += warp_size) {
      if (is_finite(query[i])) largest = Greatest{}(largest, bits_of(query[i]) & 0x7fffffffu);
    }
    const HalfScale scale = half_scale(warp_maximum(largest));
    if (lane_index() > 0) continue;
    tile.to_halves[row] = scale.to_halves;
    tile.from_halves[row] = scale.from_halves;
  }
}

// A block of 32 numbers as codes give them back.
INGOT_ON_DEVICE void round_to_codes(const float* from, float* to) {
  constexpr unsigned block = BlockQ8_0::elements;
  std::uint32_t largest = 0;
  for (unsigned i = 0; i < block; ++i) largest = Greatest{}(largest, bits_of(from[i]) & 0x7fffffffu);
  const ActivationScale made = activation_scale(largest);
  for (unsigned i = 0; i < block; ++i) {
    to[i] = made.scale * static_cast<float>(activation_code(from[i], made.inverse));
  }
}

// Queries from dimension `at` on, as they meet keys; zeros beyond their end and in rows that are not there.
template <unsigned Rows>
INGOT_ON_DEVICE void load_queries(const AttendedRows& parameters, const TileRows& rows, unsigned at,
                                  SharedTile<Rows>& tile) {
  const unsigned group = parameters.head_group;
  const unsigned width = parameters.keys.width;
  const auto query = [&](unsigned row) {
    return &parameters.q(rows.batch, rows.head(row, group), rows.token(row, group), 0);
  };
  if (parameters.keys.dtype == DType::q8_0) {
    constexpr unsigned block = BlockQ8_0::elements;
    constexpr unsigned blocks = query_chunk / block;
    for (unsigned i = thread_index(); i < Rows * blocks; i += split_keys) {
      const unsigned row = i / blocks;
      const unsigned first = i % blocks * block;
      if (row < rows.count && at + first < width) {
        round_to_codes(query(row) + at + first, tile.queries[row] + first);
      } else {
        for (unsigned j = 0; j < block; ++j) tile.queries[row][first + j] = 0;
      }
    }
    return;
  }
  const bool is_half = parameters.keys.dtype == DType::f16;
  for (unsigned i = thread_index(); i < Rows * query_chunk; i += split_keys) {
    const unsigned row = i / query_chunk;
    const unsigned dimension = at + i % query_chunk;
    float value = 0;
    if (row < rows.count && dimension < width) {
      value = query(row)[dimension];
      if (is_half) value = to_float(to_half(value * tile.to_halves[row])) * tile.from_halves[row];
    }
    tile.queries[row][i % query_chunk] = value;
  }
}

// Products of the key with the queries in shared memory, which begin with dimension `at`.
template <unsigned Rows, class Pages>
INGOT_ON_DEVICE void add_products(const DevicePages& keys, const std::byte* key_row, unsigned at,
                                  const SharedTile<Rows>& tile, float (&products)[Rows][group_floats]) {
  const unsigned left = keys.width - at;
  const unsigned count = left < query_chunk ? left : query_chunk;
  for (unsigned i = 0; i < count; i += group_floats) {
    float key[group_floats];
    Pages::load(keys, key_row, at + i, key);
    INGOT_UNROLL
    for (unsigned row = 0; row < Rows; ++row) {
      const Words16 query = load16(tile.queries[row] + i);
      INGOT_UNROLL
      for (unsigned j = 0; j < group_floats; ++j) {
        products[row][j] = fused_multiply_add(float_of_bits(query.words[j]), key[j], products[row][j]);
      }
    }
  }
}

// Scores of the split's keys, a thread each, and where their values lie. Some row sees the positions of
// `any`. Queries of one chunk stay where the split before left them.
template <unsigned Rows>
INGOT_ON_DEVICE void score_keys(const AttendedRows& parameters, const TileRows& rows, std::int32_t split_begin,
                                bool is_first, DeviceKeys any, SharedTile<Rows>& tile) {
  const std::int32_t position = split_begin + static_cast<std::int32_t>(thread_index());
  const bool is_seen = position >= any.begin && position < any.end;
  const std::byte* key_row = nullptr;
  const std::byte* value_row = nullptr;
  if (is_seen) {
    const std::uint32_t place = static_cast<std::uint32_t>(position) % parameters.wraps_at;
    const bool has_table = parameters.block_table.data != nullptr;
    const std::int64_t page =
        has_table ? parameters.block_table(rows.sequence, place / parameters.page_length) : rows.sequence;
    const std::uint32_t token = has_table ? place % parameters.page_length : place;
    key_row = parameters.keys.row(page, rows.key_head, token);
    value_row = parameters.values.row(page, rows.key_head, token);
  }
  tile.value_rows[thread_index()] = value_row;
  float products[Rows][group_floats] = {};
  for (unsigned at = 0; at < parameters.keys.width; at += query_chunk) {
    if (is_first || parameters.keys.width > query_chunk) {
      synchronize_block();  // nobody still reads the chunk before
      load_queries(parameters, rows, at, tile);
      synchronize_block();
    }
    if (!is_seen) continue;
    with_pages(parameters.keys.dtype,
               [&]<class Pages>() { add_products<Rows, Pages>(parameters.keys, key_row, at, tile, products); });
  }
  INGOT_UNROLL
  for (unsigned row = 0; row < Rows; ++row) {
    float score = -infinity;
    if (position >= tile.seen[row].begin && position < tile.seen[row].end) {
      const float product = (products[row][0] + products[row][1]) + (products[row][2] + products[row][3]);
      score = score_of(parameters, rows, row, product, position);
    }
    tile.weights[row][thread_index()] = score;
  }
}

// Scores to weights, a warp a row. Positions that a row does not see weigh nothing.
template <unsigned Rows>
INGOT_ON_DEVICE void weigh_keys(const AttendedRows& parameters, const TileRows& rows, std::int32_t split_begin,
                                SharedTile<Rows>& tile) {
  constexpr unsigned lane_keys = split_keys / warp_size;
  for (unsigned row = warp_index(); row < rows.count; row += attention_warps) {
    const std::int32_t begin = tile.seen[row].begin - split_begin;
    const std::int32_t end = tile.seen[row].end - split_begin;
    if (end <= 0 || begin >= static_cast<std::int32_t>(split_keys)) continue;
    float scores[lane_keys];
    float largest = -infinity;
    INGOT_UNROLL
    for (unsigned i = 0; i < lane_keys; ++i) {
      scores[i] = tile.weights[row][i * warp_size + lane_index()];
      largest = maximum(largest, scores[i]);
    }
    largest = warp_maximum(largest);
    const float taken = largest == -infinity ? 0 : largest;
    float sum = 0;
    INGOT_UNROLL
    for (unsigned i = 0; i < lane_keys; ++i) {
      const float weight = exponential(scores[i] - taken);
      tile.weights[row][i * warp_size + lane_index()] = weight;
      sum = sum + weight;
    }
    sum = warp_sum(sum);
    if (lane_index() > 0) continue;
    if (parameters.partials == nullptr) {
      tile.shares[row] = join_split<PowersOfE>(tile.state[row], largest, sum);
    } else {
      const unsigned group = parameters.head_group;
      const auto split =
          static_cast<unsigned>(split_begin - tile.seen[row].begin / static_cast<std::int32_t>(split_keys) *
                                                  static_cast<std::int32_t>(split_keys)) /
          split_keys;
      float* const partial = parameters.partial(rows.token(row, group), rows.head(row, group), split);
      partial[parameters.values.width] = largest;
      partial[parameters.values.width + 1] = sum;
    }
  }
}

}  // namespace ingot::device
