// The frame of products of many tokens with weights of 16 bits: a block has Rows rows of weights and Tokens tokens, and
// each of its warps a part of both, all of whose sums it keeps in registers. Tiles of both factors, 64 deep, come into
// shared memory by asynchronous copies, some ahead of what is multiplied; what an instruction multiplies is loaded into
// registers while the one before it runs.
//
// Tokens are the 16 rows of the first factor and rows of weights the 8 columns of the second. Instructions add up the
// whole depth, in its order, in one sum an element: its bits depend neither on how many tokens there are nor on the
// shape of blocks. They are not those of kernels/linear/cuda/products.h, whose sums begin anew every 64 elements.
//
// A tile has rows of 128 bytes, one after the other. Unit u of row r, 16 bytes, stands in the place of unit u ^ r % 8:
// eight lanes write a whole row, or read the same unit of eight rows, and meet every bank once.
//
// Of a gate and what it gates eight rows each take turns, so that a lane has sums of both for the same columns.
#pragma once

#include "kernels/device/matrix.h"
#include "kernels/device/memory.h"
#include "kernels/linear/cuda/curves.h"
#include "kernels/linear/cuda/token_tiles.h"
#include "kernels/linear/cuda/wide_products_cuda.h"

namespace ingot::device {

template <unsigned Rows, unsigned Tokens, unsigned Depth, unsigned RowWarps, unsigned TokenWarps, unsigned Stages>
struct WideShape {
  static constexpr unsigned rows = Rows, tokens = Tokens, depth = Depth, row_warps = RowWarps, stages = Stages;
  static constexpr unsigned warps = RowWarps * TokenWarps;
  static constexpr unsigned threads = warps * warp_size;
  static constexpr unsigned warp_rows = Rows / RowWarps, warp_tokens = Tokens / TokenWarps;
  static constexpr unsigned row_bytes = Depth * 2;
  static constexpr unsigned row_units = row_bytes / 16;
  static constexpr unsigned tokens_bytes = Tokens * row_bytes;
  static constexpr unsigned stage_bytes = (Rows + Tokens) * row_bytes;
  static constexpr unsigned shared_bytes = Stages * stage_bytes;
  // Of a copy by all threads.
  static constexpr unsigned rows_together = threads / row_units;
  static constexpr unsigned weight_copies = Rows / rows_together, x_copies = Tokens / rows_together;
  static_assert(rows_together % 16 == 0 && Rows % rows_together == 0 && Tokens % rows_together == 0);
  static INGOT_ON_DEVICE unsigned turned(unsigned row, unsigned unit) {
    static_assert(Depth == 64 || Depth == 32);
    return unit ^ (Depth == 64 ? row % 8 : row / 2 % 4);
  }
};

// 128 rows and 128 tokens, 64 deep, three times: four warps with 64 of both.
using WideBlock = WideShape<wide_rows, wide_tokens, half_chunk, 2, 2, 3>;
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

// What a thread copies: one unit of every rows_together-th row of both factors. Rows that are not there are the last
// one again; nobody looks at their sums.
template <class Shape>
class WideCopies {
 public:
  INGOT_ON_DEVICE WideCopies(const WideProducts& parameters, const WidePlace& place)
      : depth_(parameters.joined.parts[0].depth) {
    const StreamedParts& joined = parameters.joined;
    const unsigned unit = thread_index() % Shape::row_units;
    const unsigned row = thread_index() / Shape::row_units;
    const unsigned turns = joined.is_gated ? 2 : 1;
    const DeviceProduct& product = joined.parts[joined.is_gated ? row / 8 % 2 : place.part];
    const unsigned column = joined.is_gated ? row / 16 * 8 + row % 8 : row;
    const unsigned last_column = product.columns - 1 - place.first_column;
    INGOT_UNROLL
    for (unsigned i = 0; i < Shape::weight_copies; ++i) {
      const unsigned mine = column + i * (Shape::rows_together / turns);
      weight_rows_[i] = (mine < last_column ? mine : last_column) * static_cast<unsigned>(product.row_bytes);
    }
    const unsigned last_token = product.rows - 1 - place.first_token;
    INGOT_UNROLL
    for (unsigned i = 0; i < Shape::x_copies; ++i) {
      const unsigned mine = row + i * Shape::rows_together;
      x_rows_[i] = (mine < last_token ? mine : last_token) * (parameters.x_stride * 2);
    }
    weights_ = product.weights + place.first_column * product.row_bytes + unit * 16;
    x_ = reinterpret_cast<const std::byte*>(parameters.x + place.first_token * std::uint64_t{parameters.x_stride} +
                                            unit * 8);
    to_ = (row * Shape::row_units + Shape::turned(row, unit)) * 16;
  }

  INGOT_ON_DEVICE void copy_x(unsigned tile, std::byte* stage) const {
    const std::byte* const from = x_ + tile * std::uint64_t{Shape::row_bytes};
    INGOT_UNROLL
    for (unsigned i = 0; i < Shape::x_copies; ++i) copy_async16(place(stage, i), from + x_rows_[i]);
  }
  // What is beyond the depth is zeros, and not read.
  INGOT_ON_DEVICE void copy_weights(unsigned tile, std::byte* stage) const {
    const std::byte* const from = weights_ + tile * std::uint64_t{Shape::row_bytes};
    std::byte* const to = stage + Shape::tokens_bytes;
    if ((tile + 1) * Shape::depth <= depth_) {
      INGOT_UNROLL
      for (unsigned i = 0; i < Shape::weight_copies; ++i) copy_async16(place(to, i), from + weight_rows_[i]);
      return;
    }
    const unsigned at = tile * Shape::depth + thread_index() % Shape::row_units * 8;
    const unsigned left = at < depth_ ? 2 * (depth_ - at) : 0;
    INGOT_UNROLL
    for (unsigned i = 0; i < Shape::weight_copies; ++i) {
      copy_async16(place(to, i), (left > 0 ? from : weights_) + weight_rows_[i], left < 16 ? left : 16);
    }
  }

 private:
  INGOT_ON_DEVICE std::byte* place(std::byte* tile, unsigned i) const {
    return tile + to_ + i * (Shape::rows_together * Shape::row_bytes);
  }

  const std::byte* weights_;
  const std::byte* x_;
  unsigned weight_rows_[Shape::weight_copies];
  unsigned x_rows_[Shape::x_copies];
  unsigned to_;
  unsigned depth_;
};

// Of a warp's tokens and rows, 16 deep.
template <class Shape>
struct WideFactors {
  MatrixWords<4> tokens[Shape::warp_tokens / 16];
  MatrixWords<4> rows[Shape::warp_rows / 16];
};

// Where a lane finds what it names in load_matrices: the same in each stage.
template <class Shape>
struct WideLane {
  unsigned tokens, token_unit;
  unsigned rows, row_unit;

  INGOT_ON_DEVICE WideLane() {
    const unsigned lane = lane_index();
    const unsigned token = warp_index() / Shape::row_warps * Shape::warp_tokens + lane % 16;
    const unsigned row = warp_index() % Shape::row_warps * Shape::warp_rows + lane % 8 + lane / 16 * 8;
    tokens = token * Shape::row_bytes;
    token_unit = Shape::turned(token, lane / 16);
    rows = Shape::tokens_bytes + row * Shape::row_bytes;
    row_unit = Shape::turned(row, lane / 8 % 2);
  }
  INGOT_ON_DEVICE void load(WideFactors<Shape>& factors, const std::byte* stage, unsigned step) const {
    const std::byte* const from_tokens = stage + tokens + (token_unit ^ step * 2) * 16;
    const std::byte* const from_rows = stage + rows + (row_unit ^ step * 2) * 16;
    INGOT_UNROLL
    for (unsigned i = 0; i < Shape::warp_tokens / 16; ++i) {
      factors.tokens[i] = load_matrices<4>(from_tokens + i * (16 * Shape::row_bytes));
    }
    INGOT_UNROLL
    for (unsigned i = 0; i < Shape::warp_rows / 16; ++i) {
      factors.rows[i] = load_matrices<4>(from_rows + i * (16 * Shape::row_bytes));
    }
  }
};

template <class Shape>
struct WideSums {
  FloatSums sums[Shape::warp_tokens / 16][Shape::warp_rows / 8];

  INGOT_ON_DEVICE void clear() {
    INGOT_UNROLL
    for (unsigned i = 0; i < Shape::warp_tokens / 16; ++i) {
      INGOT_UNROLL
      for (unsigned j = 0; j < Shape::warp_rows / 8; ++j) sums[i][j] = {{0, 0, 0, 0}};
    }
  }
  template <class Element>
  INGOT_ON_DEVICE void add(const WideFactors<Shape>& factors) {
    INGOT_UNROLL
    for (unsigned i = 0; i < Shape::warp_tokens / 16; ++i) {
      const MatrixWords<4>& a = factors.tokens[i];
      INGOT_UNROLL
      for (unsigned j = 0; j < Shape::warp_rows / 8; ++j) {
        const MatrixWords<4>& b = factors.rows[j / 2];
        matrix_multiply_16x8x16<Element>(sums[i][j], {{a.words[0], a.words[1], a.words[2], a.words[3]}},
                                         {{b.words[j % 2 * 2], b.words[j % 2 * 2 + 1]}});
      }
    }
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
  constexpr unsigned steps = Shape::depth / 16;
  const StreamedParts& joined = parameters.joined;
  const WidePlace place(parameters, Shape::rows / (joined.is_gated ? 2 : 1), Shape::tokens);
  const WideCopies<Shape> copies(parameters, place);
  const WideLane<Shape> lane;
  const unsigned tiles = (joined.parts[0].depth + Shape::depth - 1) / Shape::depth;
  std::byte* const ring = dynamic_shared<std::byte>();
  INGOT_UNROLL
  for (unsigned tile = 0; tile + 1 < Shape::stages; ++tile) {
    if (tile < tiles) {
      copies.copy_x(tile, ring + tile * Shape::stage_bytes);
      copies.copy_weights(tile, ring + tile * Shape::stage_bytes);
    }
    commit_copies();
  }
  WideSums<Shape> sums;
  sums.clear();
  WideFactors<Shape> factors[2];
  wait_for_copies<Shape::stages - 2>();
  synchronize_block();
  lane.load(factors[0], ring, 0);
  std::byte* stage = ring;                                            // of `tile`
  std::byte* next = ring + (Shape::stages - 1) * Shape::stage_bytes;  // what the copies of this turn go to
  std::byte* const end = ring + Shape::shared_bytes;
  INGOT_ROLLED
  for (unsigned tile = 0; tile < tiles; ++tile) {
    const unsigned ahead = tile + Shape::stages - 1;
    INGOT_UNROLL
    for (unsigned step = 0; step < steps; ++step) {
      if (step + 1 == steps) {
        commit_copies();
        wait_for_copies<Shape::stages - 2>();
        synchronize_block();  // the next tile is there, and all have read this one
        next = stage;
        stage = stage + Shape::stage_bytes == end ? ring : stage + Shape::stage_bytes;
      }
      lane.load(factors[(step + 1) % 2], stage, (step + 1) % steps);
      if (step == 0 && ahead < tiles) copies.copy_x(ahead, next);
      if (step == (steps > 2 ? 1 : 0) && ahead < tiles) copies.copy_weights(ahead, next);
      sums.template add<Element>(factors[step % 2]);
    }
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
      for (unsigned j = 0; j < Shape::warp_rows / 8; ++j) Out::put(out, j * 8, i * 16, sums.sums[first + i][j]);
    }
    synchronize_warp();
    Out::store(parameters, place, first_token + first * 16, first_row, out);
    synchronize_warp();
  }
}

}  // namespace ingot::device
