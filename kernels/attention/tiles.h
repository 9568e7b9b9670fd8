// Tiles of whole-sequence attention: which rows a tile holds and which keys they see. All of it depends on the shape
// alone, so results do not depend on who computes a tile.
#pragma once

#include <limits>

#include "kernels/attention/sdpa/sdpa_inputs.h"

namespace ingot {

// 64 x 64: a tile of scores is 16 KiB, and its queries, values and outputs of 128 dimensions another 96 KiB, so a tile
// works in the second-level cache and its innermost loops in the first.
inline constexpr std::int64_t row_tile = 64;
inline constexpr std::int64_t key_tile = 64;
// Tasks, for as many threads.
inline constexpr std::int64_t enough_tasks = 64;
// Buffers are padded to the widest vector.
inline constexpr std::int64_t widest_vector = 16;

constexpr std::int64_t padded_width(std::int64_t width) {
  return static_cast<std::int64_t>(
      align_up(static_cast<std::uint64_t>(width), static_cast<std::uint64_t>(widest_vector)));
}

// The rows that share a head of keys: all queries of all query heads of the group, in tiles. The heads of a query are
// neighbours, so that a tile's rows see nearly the same keys.
struct RowTile {
  std::int64_t batch = 0;
  std::int64_t key_head = 0;
  std::int64_t count = 0;
  std::int64_t head[row_tile];
  std::int64_t query[row_tile];
  KeyRange keys[row_tile];
  KeyRange any;  // keys that some row sees lie within
};

inline std::int64_t row_tiles_per_key_head(const SdpaInputs& inputs) {
  return divide_rounding_up(inputs.head_group() * inputs.queries(), row_tile);
}

inline void fill_row_tile(const SdpaInputs& inputs, std::int64_t batch, std::int64_t key_head, std::int64_t tile,
                          RowTile& rows) {
  const std::int64_t total = inputs.head_group() * inputs.queries();
  rows.batch = batch;
  rows.key_head = key_head;
  rows.count = std::min(row_tile, total - tile * row_tile);
  rows.any = {std::numeric_limits<std::int64_t>::max(), 0};
  for (std::int64_t r = 0; r < rows.count; ++r) {
    const std::int64_t row = tile * row_tile + r;
    rows.head[r] = key_head * inputs.head_group() + row % inputs.head_group();
    rows.query[r] = row / inputs.head_group();
    rows.keys[r] = inputs.keys_of(rows.query[r]);
    if (rows.keys[r].begin == rows.keys[r].end) continue;
    rows.any.begin = std::min(rows.any.begin, rows.keys[r].begin);
    rows.any.end = std::max(rows.any.end, rows.keys[r].end);
  }
}

// A row's keys within the tile of `count` keys that starts at `first`, counted from there.
constexpr KeyRange keys_within(KeyRange keys, std::int64_t first, std::int64_t count) {
  KeyRange range{std::clamp<std::int64_t>(keys.begin - first, 0, count),
                 std::clamp<std::int64_t>(keys.end - first, 0, count)};
  return range;
}

// Packs the tile's rows, which row_at(r) gives, as [width][row_tile]; rows that are not there become zeros.
template <class RowAt>
void pack_rows_at(std::int64_t width, const RowTile& rows, RowAt row_at, float* packed) {
  for (std::int64_t r = 0; r < row_tile; ++r) {
    const float* row = r < rows.count ? row_at(r) : nullptr;
    for (std::int64_t i = 0; i < width; ++i) packed[i * row_tile + r] = row != nullptr ? row[i] : 0.0f;
  }
}

// The same for rows of a [B, H, S, width] tensor.
inline void pack_rows(const View<const float>& view, const RowTile& rows, float* packed) {
  auto row_at = [&](std::int64_t r) { return &view(rows.batch, rows.head[r], rows.query[r], 0); };
  pack_rows_at(view.size(3), rows, row_at, packed);
}

// The same rows one after another, each padded with zeros.
inline void copy_rows(const View<const float>& view, const RowTile& rows, float* copied) {
  const std::int64_t padded = padded_width(view.size(3));
  for (std::int64_t r = 0; r < rows.count; ++r) {
    float* to = copied + r * padded;
    std::copy_n(&view(rows.batch, rows.head[r], rows.query[r], 0), view.size(3), to);
    std::fill(to + view.size(3), to + padded, 0.0f);
  }
}

// Keys or values of a tile as whole vectors: where they lie, or copied and padded.
struct WholeRows {
  const float* data;
  std::int64_t stride;
};

inline WholeRows whole_rows(const View<const float>& view, const RowTile& rows, std::int64_t first, std::int64_t count,
                            std::int64_t lanes, float* buffer) {
  const float* start = &view(rows.batch, rows.key_head, first, 0);
  const std::int64_t width = view.size(3);
  if (width % lanes == 0) return {start, view.stride(2)};
  const std::int64_t padded = padded_width(width);
  for (std::int64_t k = 0; k < count; ++k) {
    std::copy_n(start + k * view.stride(2), width, buffer + k * padded);
    std::fill(buffer + k * padded + width, buffer + (k + 1) * padded, 0.0f);
  }
  return {buffer, padded};
}

}  // namespace ingot
