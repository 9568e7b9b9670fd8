// The frame of products of many tokens with weights of 16 bits: a block has Rows rows of weights and Tokens tokens, and
// each of its warps a part of both, all of whose sums it keeps in registers. Tiles of both factors, a chunk deep, come
// into shared memory by asynchronous copies, some ahead of what is multiplied.
//
// Tokens are the 16 rows of the first factor and rows of weights the 8 columns of the second. Which elements meet in an
// instruction, and in which order sums are added, is as in the frames of fewer tokens (half_products_cuda.cu,
// tiled.h): an element of y has the same bits by any of them.
//
// A tile has rows of 128 bytes, one after the other. Unit u of row r, 16 bytes, stands in the place of unit
// u ^ (r % 2 * 4 + r / 2 % 4): eight lanes write a whole row, or read four neighbouring units of two, and meet every
// bank once.
//
// Of a gate and what it gates eight rows each take turns, so that a lane has sums of both for the same columns.
#pragma once

#include "kernels/device/matrix.h"
#include "kernels/device/memory.h"
#include "kernels/linear/cuda/curves.h"
#include "kernels/linear/cuda/token_tiles.h"
#include "kernels/linear/cuda/wide_products_cuda.h"

namespace ingot::device {

template <unsigned Rows, unsigned Tokens, unsigned RowWarps, unsigned TokenWarps, unsigned Stages>
struct WideShape {
  static constexpr unsigned rows = Rows, tokens = Tokens, depth = half_chunk, row_warps = RowWarps, stages = Stages;
  static constexpr unsigned warps = RowWarps * TokenWarps;
  static constexpr unsigned threads = warps * warp_size;
  static constexpr unsigned warp_rows = Rows / RowWarps, warp_tokens = Tokens / TokenWarps;
  static constexpr unsigned row_bytes = depth * 2;
  static constexpr unsigned row_units = row_bytes / 16;
  static constexpr unsigned tokens_bytes = Tokens * row_bytes;
  static constexpr unsigned stage_bytes = (Rows + Tokens) * row_bytes;
  static constexpr unsigned shared_bytes = Stages * stage_bytes;
  static constexpr unsigned segment_tiles = segment_depth / depth;
  // Of a copy by all threads.
  static constexpr unsigned rows_together = threads / row_units;
  // So each of a thread's rows has its units in the same places, and of what is gated the same turn.
  static_assert(rows_together % 16 == 0 && Rows % rows_together == 0 && Tokens % rows_together == 0);
  static INGOT_ON_DEVICE unsigned turned(unsigned row, unsigned unit) { return unit ^ (row % 2 * 4 + row / 2 % 4); }
};

// 128 rows and 128 tokens, three times: eight warps with 64 rows and 32 tokens.
using WideBlock = WideShape<wide_rows, wide_tokens, 2, 4, 3>;
static_assert(WideBlock::shared_bytes == wide_shared_bytes && WideBlock::threads == wide_threads);

// Which rows of which part a block multiplies with which tokens.
struct WidePlace {
  unsigned part;
  unsigned first_column;
  unsigned first_token;

  INGOT_ON_DEVICE WidePlace(const WideProducts& parameters, unsigned columns_of_tile, unsigned tokens_of_tile)
      : part(0) {
    const StreamedParts& joined = parameters.joined;
    const unsigned row_tiles = parameters.row_tiles;
    const unsigned token_tiles = (joined.parts[0].rows + tokens_of_tile - 1) / tokens_of_tile;
    const unsigned first_of_group = block_index() / (row_tiles * wide_group) * wide_group;
    const unsigned within = block_index() - first_of_group * row_tiles;
    const unsigned left = token_tiles - first_of_group;
    const unsigned group = left < wide_group ? left : wide_group;
    const unsigned row_tile = within / group;
    first_token = (first_of_group + within % group) * tokens_of_tile;
    unsigned first_tile = 0;
    while (row_tile >= joined.ends[part]) first_tile = joined.ends[part++];
    first_column = (row_tile - first_tile) * columns_of_tile;
  }
};

// What a thread copies: one unit of every rows_together-th row of a factor. Rows that are not there are the last one
// again; nobody looks at their sums.
template <unsigned Rows, unsigned Together>
struct WideRows {
  const std::byte* from;  // the thread's unit of the first row
  unsigned first, step, last;
  unsigned stride;  // bytes from row to row

  // `bytes` of each unit, and zeros.
  INGOT_ON_DEVICE void copy(std::uint64_t offset, std::byte* to, unsigned bytes) const {
    INGOT_UNROLL
    for (unsigned i = 0; i < Rows / Together; ++i) {
      const unsigned row = first + i * step;
      copy_async16(to + i * (Together * half_chunk * 2), from + offset + (row < last ? row : last) * stride, bytes);
    }
  }
};

template <class Shape>
class WideCopies {
 public:
  INGOT_ON_DEVICE WideCopies(const WideProducts& parameters, const WidePlace& place)
      : depth_(parameters.joined.parts[0].depth) {
    const StreamedParts& joined = parameters.joined;
    const unsigned unit = thread_index() % Shape::row_units;
    const unsigned row = thread_index() / Shape::row_units;
    const DeviceProduct& product = joined.parts[joined.is_gated ? row / 8 % 2 : place.part];
    weights_ = {product.weights + place.first_column * product.row_bytes + unit * 16,
                joined.is_gated ? row / 16 * 8 + row % 8 : row, Shape::rows_together / (joined.is_gated ? 2 : 1),
                product.columns - 1 - place.first_column, static_cast<unsigned>(product.row_bytes)};
    const std::uint16_t* const x = parameters.x + place.first_token * std::uint64_t{parameters.x_stride} + unit * 8;
    x_ = {reinterpret_cast<const std::byte*>(x), row, Shape::rows_together, product.rows - 1 - place.first_token,
          parameters.x_stride * 2};
    to_ = (row * Shape::row_units + Shape::turned(row, unit)) * 16;
  }

  // What is beyond the depth is zeros, and not read.
  INGOT_ON_DEVICE void copy(unsigned tile, std::byte* stage) const {
    const std::uint64_t offset = tile * std::uint64_t{Shape::row_bytes};
    x_.copy(offset, stage + to_, 16);
    const unsigned at = tile * Shape::depth + thread_index() % Shape::row_units * 8;
    const unsigned left = at < depth_ ? 2 * (depth_ - at) : 0;
    weights_.copy(left > 0 ? offset : 0, stage + Shape::tokens_bytes + to_, left < 16 ? left : 16);
  }

 private:
  WideRows<Shape::rows, Shape::rows_together> weights_;
  WideRows<Shape::tokens, Shape::rows_together> x_;
  unsigned to_;
  unsigned depth_;
};

// A lane's share of a tile: of tokens g and g + 8 of each 16, or of row g of each 8, two units of 8 elements.
struct WideUnits {
  static constexpr unsigned steps = half_chunk / 32;
  Words16 units[steps];

  INGOT_ON_DEVICE MatrixB second_factor(unsigned step, unsigned half) const {
    return {{units[step].words[2 * half], units[step].words[2 * half + 1]}};
  }
};
INGOT_ON_DEVICE MatrixA first_factor(const WideUnits (&rows)[2], unsigned step, unsigned half) {
  const std::uint32_t(&upper)[4] = rows[0].units[step].words;
  const std::uint32_t(&lower)[4] = rows[1].units[step].words;
  return {{upper[2 * half], lower[2 * half], upper[2 * half + 1], lower[2 * half + 1]}};
}

// Where a lane finds its units: the same in each stage, and for each eight rows.
template <class Shape>
struct WideLane {
  unsigned tokens, rows;
  unsigned places[WideUnits::steps];

  INGOT_ON_DEVICE WideLane() {
    const unsigned row = lane_index() / 4;
    tokens = (warp_index() / Shape::row_warps * Shape::warp_tokens + row) * Shape::row_bytes;
    rows = Shape::tokens_bytes + (warp_index() % Shape::row_warps * Shape::warp_rows + row) * Shape::row_bytes;
    INGOT_UNROLL
    for (unsigned step = 0; step < WideUnits::steps; ++step) {
      places[step] = Shape::turned(row, step * 4 + lane_index() % 4) * 16;
    }
  }
  INGOT_ON_DEVICE WideUnits load(const std::byte* rows_of_lane, unsigned eight) const {
    WideUnits result;
    INGOT_UNROLL
    for (unsigned step = 0; step < WideUnits::steps; ++step) {
      result.units[step] = load16(rows_of_lane + eight * (8 * Shape::row_bytes) + places[step]);
    }
    return result;
  }
};

// Of a chunk from zero, then into those of a segment, and these into the totals.
template <class Shape>
struct WideSums {
  static constexpr unsigned sixteens = Shape::warp_tokens / 16, eights = Shape::warp_rows / 8;
  FloatSums totals[sixteens][eights], of_segment[sixteens][eights];

  INGOT_ON_DEVICE void clear() {
    INGOT_UNROLL
    for (unsigned i = 0; i < sixteens; ++i) {
      INGOT_UNROLL
      for (unsigned j = 0; j < eights; ++j) totals[i][j] = of_segment[i][j] = {{0, 0, 0, 0}};
    }
  }
  template <class Element>
  INGOT_ON_DEVICE void add_tile(const WideLane<Shape>& lane, const std::byte* stage) {
    WideUnits tokens[sixteens][2];
    INGOT_UNROLL
    for (unsigned i = 0; i < sixteens; ++i) {
      INGOT_UNROLL
      for (unsigned half = 0; half < 2; ++half) tokens[i][half] = lane.load(stage + lane.tokens, 2 * i + half);
    }
    WideUnits row = lane.load(stage + lane.rows, 0), next = {};
    INGOT_UNROLL
    for (unsigned j = 0; j < eights; ++j) {
      if (j + 1 < eights) next = lane.load(stage + lane.rows, j + 1);
      FloatSums chunk[sixteens] = {};
      INGOT_UNROLL
      for (unsigned step = 0; step < WideUnits::steps; ++step) {
        INGOT_UNROLL
        for (unsigned half = 0; half < 2; ++half) {
          INGOT_UNROLL
          for (unsigned i = 0; i < sixteens; ++i) {
            matrix_multiply_16x8x16<Element>(chunk[i], first_factor(tokens[i], step, half),
                                             row.second_factor(step, half));
          }
        }
      }
      INGOT_UNROLL
      for (unsigned i = 0; i < sixteens; ++i) add(of_segment[i][j], chunk[i]);
      row = next;
      synchronize_warp();  // or the compiler loads too many rows ahead, and has no registers for them
    }
  }
  INGOT_ON_DEVICE void end_segment() {
    INGOT_UNROLL
    for (unsigned i = 0; i < sixteens; ++i) {
      INGOT_UNROLL
      for (unsigned j = 0; j < eights; ++j) {
        add(totals[i][j], of_segment[i][j]);
        of_segment[i][j] = {{0, 0, 0, 0}};
      }
    }
  }

 private:
  static INGOT_ON_DEVICE void add(FloatSums& to, const FloatSums& what) {
    INGOT_UNROLL
    for (unsigned i = 0; i < 4; ++i) to.values[i] = to.values[i] + what.values[i];
  }
};

// Sums of a warp on their way from registers to y, by way of shared memory: of Rows rows of weights, for Tokens tokens.
template <unsigned Rows, unsigned Tokens>
struct WideOut {
  // Pieces left out between tokens keep lanes in different banks.
  static constexpr unsigned stride = Rows + 8;
  static constexpr unsigned bytes = Tokens * stride * sizeof(float);

  // The lane's share of a tile of 8 rows and 16 tokens.
  static INGOT_ON_DEVICE void put(float* out, unsigned row, unsigned token, const FloatSums& sums) {
    INGOT_UNROLL
    for (unsigned half = 0; half < 2; ++half) {
      const float* const two = sums.values + half * 2;
      store8(out + (token + half * 8 + lane_index() / 4) * stride + row + lane_index() % 4 * 2,
             {{bits_of(two[0]), bits_of(two[1])}});
    }
  }

  // Four columns a lane.
  static INGOT_ON_DEVICE void store(const WideProducts& parameters, const WidePlace& place, unsigned first_token,
                                    unsigned first_row, const float* out) {
    const StreamedParts& joined = parameters.joined;
    const unsigned groups = Rows / 4 / (joined.is_gated ? 2 : 1);  // of a token
    const unsigned group = lane_index() % groups;
    const DeviceProduct& to = joined.parts[joined.has_curve ? 0 : place.part];
    const unsigned from = joined.is_gated ? group / 2 * 16 + group % 2 * 4 : group * 4;
    const unsigned column = place.first_column + first_row / (joined.is_gated ? 2 : 1) + group * 4;
    if (column >= to.columns) return;
    const unsigned left = to.columns - column;
    float bias[2][4] = {};
    INGOT_UNROLL
    for (unsigned i = 0; i < 4; ++i) {
      if (to.bias != nullptr && i < left) bias[0][i] = to.bias[column + i];
      if (joined.is_gated && joined.parts[1].bias != nullptr && i < left) bias[1][i] = joined.parts[1].bias[column + i];
    }
    INGOT_ROLLED
    for (unsigned i = lane_index() / groups; i < Tokens; i += warp_size / groups) {
      const unsigned token = first_token + i;
      if (token >= to.rows) return;
      const float scale = parameters.from_halves == nullptr ? 1 : parameters.from_halves[token];
      const float* const mine = out + i * stride + from;
      const Words16 words = load16(mine);
      float values[4];
      INGOT_UNROLL
      for (unsigned j = 0; j < 4; ++j) {
        values[j] = float_of_bits(words.words[j]) * scale;
        if (to.bias != nullptr) values[j] = values[j] + bias[0][j];
      }
      if (joined.has_curve) {
        INGOT_UNROLL
        for (unsigned j = 0; j < 4; ++j) values[j] = curve_of(joined.curve, values[j]);
      }
      if (joined.is_gated) {
        const Words16 gated = load16(mine + 8);
        INGOT_UNROLL
        for (unsigned j = 0; j < 4; ++j) {
          float up = float_of_bits(gated.words[j]) * scale;
          if (joined.parts[1].bias != nullptr) up = up + bias[1][j];
          values[j] = values[j] * up;
        }
      }
      float* const y = to.y + token * to.y_stride + column;
      if (parameters.is_grouped && left >= 4) {
        store16(y, {{bits_of(values[0]), bits_of(values[1]), bits_of(values[2]), bits_of(values[3])}});
      } else {
        INGOT_UNROLL
        for (unsigned j = 0; j < 4; ++j) {
          if (j < left) y[j] = values[j];
        }
      }
    }
  }
};

template <class Element, class Shape>
INGOT_ON_DEVICE void multiply_wide(const WideProducts& parameters) {
  const StreamedParts& joined = parameters.joined;
  const WidePlace place(parameters, Shape::rows / (joined.is_gated ? 2 : 1), Shape::tokens);
  const WideCopies<Shape> copies(parameters, place);
  const WideLane<Shape> lane;
  const unsigned tiles = (joined.parts[0].depth + Shape::depth - 1) / Shape::depth;
  std::byte* const ring = dynamic_shared<std::byte>();
  INGOT_UNROLL
  for (unsigned tile = 0; tile + 1 < Shape::stages; ++tile) {
    if (tile < tiles) copies.copy(tile, ring + tile * Shape::stage_bytes);
    commit_copies();
  }
  WideSums<Shape> sums;
  sums.clear();
  const std::byte* stage = ring;                                      // of `tile`
  std::byte* next = ring + (Shape::stages - 1) * Shape::stage_bytes;  // what the copies of this turn go to
  std::byte* const end = ring + Shape::shared_bytes;
  INGOT_ROLLED
  for (unsigned tile = 0; tile < tiles; ++tile) {
    wait_for_copies<Shape::stages - 2>();
    synchronize_block();  // this tile is there, and all have read the one before it
    const unsigned ahead = tile + Shape::stages - 1;
    if (ahead < tiles) copies.copy(ahead, next);
    commit_copies();
    sums.template add_tile<Element>(lane, stage);
    if ((tile + 1) % Shape::segment_tiles == 0 || tile + 1 == tiles) sums.end_segment();
    next = next + Shape::stage_bytes == end ? ring : next + Shape::stage_bytes;
    stage = stage + Shape::stage_bytes == end ? ring : stage + Shape::stage_bytes;
  }
  synchronize_block();  // the ring is free

  using Out = WideOut<Shape::warp_rows, 32>;
  static_assert(Shape::warps * Out::bytes <= Shape::shared_bytes);
  const unsigned first_row = warp_index() % Shape::row_warps * Shape::warp_rows;
  const unsigned first_token = place.first_token + warp_index() / Shape::row_warps * Shape::warp_tokens;
  float* const out = dynamic_shared<float>() + warp_index() * (Out::bytes / sizeof(float));
  INGOT_UNROLL
  for (unsigned first = 0; first < Shape::warp_tokens / 16; first += 2) {
    INGOT_UNROLL
    for (unsigned i = 0; i < 2; ++i) {
      INGOT_UNROLL
      for (unsigned j = 0; j < Shape::warp_rows / 8; ++j) Out::put(out, j * 8, i * 16, sums.totals[first + i][j]);
    }
    synchronize_warp();
    Out::store(parameters, place, first_token + first * 16, first_row, out);
    synchronize_warp();
  }
}

}  // namespace ingot::device
