// The frame of products with few tokens: weights stream through shared memory, over a `Way` that knows how tiles of one
// kind of weights lie and meet x:
//
//   struct Way {
//     using Parameters = ...;                        with StreamedParts `joined`
//     static constexpr unsigned stages;              tiles of a warp that are under way
//     static constexpr unsigned stage_bytes;         the largest tile's
//     static constexpr unsigned segment_tiles;       tiles along the depth in a segment
//     static constexpr unsigned one_piece_tiles;     in a piece, where there is one token (see below)
//     static unsigned tiles(const DeviceProduct&);   along the depth
//     static void prefetch(const Parameters&, const StreamPlace&, unsigned warp);
//     using Source = ...;                            what a lane copies tiles from, found once
//     static Source source(const Parameters&, const StreamPlace&);
//     static void copy_tile(const Source&, unsigned tile, std::byte* to);
//     using X = ...;                                 what a lane has of x for a tile
//     static X load_x(const Parameters&, const StreamPlace&, unsigned tile);
//     static float prepare_x(const Parameters&, std::byte* to);       of one token, by all threads of the block
//     static X load_prepared(const Parameters&, const std::byte* x, unsigned tile);
//     static float weight(const X&);                 of a tile that is a piece: what its sums are weighed by, where
//     they
//                                                    meet those of others
//     template <bool One> static void add_tile(const StreamPlace&, const std::byte* from, const X&, FloatSums& sums);
//     static float finished(const Parameters&, unsigned token, float sum);
//   };
//
// A block has 16 rows of weights of a part and up to 8 tokens. Its warps share the depth, piece by piece, and each
// copies its own tiles, `stages` ahead of what it multiplies: from its first instruction on that many are on their way,
// which no compiler can undo, and they cost no registers. x is loaded before a tile is waited for. Sums of pieces lie
// in shared memory and are added in their order, as kernels/linear/cuda/products.h does it for many tokens: an element
// has the same bits either way. A piece is a segment. Of one token (`One`) it is a tile where tiles can be summed
// apart: what a warp does with a tile is a chain of some hundred instructions, and where there are few rows, twice as
// many warps take half as long.
//
// One token may be prepared by each block for itself, while its first tiles are on their way. It is read from the
// second-level cache: as long as there are few blocks that takes less than a launch that prepares it once for all.
// prepare_x() returns what sums are multiplied by in the end.
//
// Before it waits for the launch before it a block may ask for its weights: no pass writes weights, and if somebody
// else does, what it loads afterwards is what was written.
//
// Shared memory: warps * stages * stage_bytes, then x of one token, then the sums of pieces of each part, and of one
// token their weights.
#pragma once

#include "kernels/device/early.h"
#include "kernels/device/matrix.h"
#include "kernels/linear/cuda/curves.h"
#include "kernels/linear/cuda/streamed_cuda.h"
#include "kernels/linear/cuda/token_tiles.h"

namespace ingot::device {

struct StreamPlace {
  TokenTile tokens;
  const std::byte* weights;  // the first of the block's 16 rows
  unsigned columns;          // of the 16 that are there
  unsigned part;
  DType type;
};

// What one warp streams: pieces are dealt to the warps of its part in turn.
template <class Way, bool One>
struct WeightStream {
  static constexpr unsigned piece_tiles = One ? Way::one_piece_tiles : Way::segment_tiles;
  static constexpr unsigned segment_pieces = Way::segment_tiles / piece_tiles;
  static constexpr unsigned piece_sums = One ? warp_columns : warp_columns * tile_tokens;
  static constexpr unsigned piece_floats = One ? warp_columns + 1 : piece_sums;  // with its weight

  const typename Way::Parameters& parameters;
  const StreamPlace& place;
  const typename Way::Source source;
  std::byte* ring;
  unsigned tiles, warp, warps;

  INGOT_ON_DEVICE unsigned tile_of_turn(unsigned i) const {
    if constexpr (piece_tiles == 1) return warp + i * warps;
    return (warp + i / piece_tiles * warps) * piece_tiles + i % piece_tiles;
  }
  INGOT_ON_DEVICE unsigned pieces() const { return (tiles + piece_tiles - 1) / piece_tiles; }
  INGOT_ON_DEVICE unsigned segments() const { return (tiles + Way::segment_tiles - 1) / Way::segment_tiles; }

  INGOT_ON_DEVICE void copy(unsigned turn, unsigned stage) const {
    const unsigned tile = tile_of_turn(turn);
    if (tile < tiles) Way::copy_tile(source, tile, ring + stage * Way::stage_bytes);
    commit_copies();
  }
  INGOT_ON_DEVICE void begin() const {
    INGOT_ROLLED  // a launch as short as this one waits for its instructions, too
        for (unsigned i = 0; i < Way::stages; ++i) copy(i, i);
  }

  // Sums of pieces [token][column]. `prepared`: x in shared memory, or null.
  INGOT_ON_DEVICE void run(const std::byte* prepared, float* of_pieces) const {
    FloatSums sums = {{0, 0, 0, 0}};
    unsigned stage = 0;
    const unsigned turns = warp < pieces() ? (pieces() - warp + warps - 1) / warps * piece_tiles : 0;
    for (unsigned i = 0; i < turns; ++i) {
      const unsigned tile = tile_of_turn(i);
      const unsigned of_x = tile < tiles ? tile : 0;
      const typename Way::X x = One && prepared != nullptr ? Way::load_prepared(parameters, prepared, of_x)
                                                           : Way::load_x(parameters, place, of_x);
      wait_for_copies<Way::stages - 1>();
      synchronize_warp();
      if (tile < tiles) Way::template add_tile<One>(place, ring + stage * Way::stage_bytes, x, sums);
      synchronize_warp();
      copy(i + Way::stages, stage);
      stage = stage + 1 == Way::stages ? 0 : stage + 1;
      if (i % piece_tiles + 1 < piece_tiles) continue;
      store(sums, of_pieces + tile / piece_tiles * piece_sums);
      if (segment_pieces > 1 && lane_index() == 0) of_pieces[pieces() * piece_sums + tile] = Way::weight(x);
      sums = {{0, 0, 0, 0}};
    }
  }

 private:
  // Of one token lanes 4 g alone have sums.
  static INGOT_ON_DEVICE void store(const FloatSums& sums, float* to) {
    INGOT_UNROLL
    for (unsigned j = 0; j < 4; ++j) {
      const unsigned token = lane_index() % 4 * 2 + j % 2;
      const unsigned column = lane_index() / 4 + j / 2 * 8;
      if (!One) {
        to[token * warp_columns + column] = sums.values[j];
      } else if (token == 0) {
        to[column] = sums.values[j];
      }
    }
  }
};

// `count` numbers that stand `step` apart, from the first to the last, a few of them loaded at a time. add(total, i,
// number) gives the next total.
template <class Add>
INGOT_ON_DEVICE float sum_in_order(const float* from, unsigned count, unsigned step, Add add) {
  constexpr unsigned together = 4;
  float total = 0;
  for (unsigned first = 0; first < count; first += together) {
    float some[together];
    INGOT_UNROLL
    for (unsigned i = 0; i < together; ++i) some[i] = first + i < count ? from[(first + i) * step] : 0;
    INGOT_UNROLL
    for (unsigned i = 0; i < together; ++i) {
      if (first + i < count) total = add(total, first + i, some[i]);
    }
  }
  return total;
}

// Sums of segments of one token in the place of the first piece of each. All threads take part, and meet behind it.
INGOT_ON_DEVICE void join_pieces(float* of_pieces, unsigned parts, unsigned pieces, unsigned segment_pieces) {
  const unsigned segments = (pieces + segment_pieces - 1) / segment_pieces;
  for (unsigned at = thread_index(); at < parts * segments * warp_columns; at += thread_count()) {
    const unsigned first = at / warp_columns % segments * segment_pieces;
    const unsigned left = pieces - first;
    float* const of_part = of_pieces + at / warp_columns / segments * (pieces * (warp_columns + 1));
    const float* const weights = of_part + pieces * warp_columns + first;
    float* const of_segment = of_part + first * warp_columns + at % warp_columns;
    *of_segment =
        sum_in_order(of_segment, left < segment_pieces ? left : segment_pieces, warp_columns,
                     [&](float total, unsigned i, float sum) { return fused_multiply_add(sum, weights[i], total); });
  }
  synchronize_block();
}

// The part that a block's team of warps multiplies, and the first of its rows.
struct StreamedRows {
  unsigned part;
  unsigned first_column;
  unsigned columns;  // of 16

  INGOT_ON_DEVICE explicit StreamedRows(const StreamedParts& joined) : part(warp_index() / joined.warps) {
    unsigned first_block = 0;
    while (block_index() >= joined.ends[part]) first_block = joined.ends[part++];
    first_column = (block_index() - first_block) * warp_columns;
    const unsigned left = joined.parts[part].columns - first_column;
    columns = left < warp_columns ? left : warp_columns;
  }
  INGOT_ON_DEVICE StreamPlace place(const StreamedParts& joined, const TokenTile& tokens) const {
    const DeviceProduct& product = joined.parts[part];
    return {tokens, product.weights + tokens.expert * product.expert_bytes + first_column * product.row_bytes, columns,
            part, joined.types[part]};
  }
};

// What goes before a launch of multiply_streamed. Whose weights experts want is not known yet, and a matrix without
// depth has none.
template <class Way>
INGOT_ON_DEVICE void prefetch_streamed(const typename Way::Parameters& parameters) {
  const StreamedParts& joined = parameters.joined;
  if (joined.prefetched_bytes == 0 || joined.parts[0].offsets != nullptr || joined.parts[0].depth == 0) return;
  Way::prefetch(parameters, StreamedRows(joined).place(joined, {0, 0, 0}), warp_index() % joined.warps);
}

// `One`: x has one row.
template <class Way, bool One>
INGOT_ON_DEVICE void multiply_streamed(const typename Way::Parameters& parameters) {
  using Stream = WeightStream<Way, One>;
  const StreamedParts& joined = parameters.joined;
  const unsigned team = warp_index() / joined.warps;  // 1: of what is gated
  const StreamedRows rows(joined);
  const TokenTile tokens = token_tile(joined.parts[rows.part], block_index_y(), tile_tokens);
  if (tokens.count == 0) return;
  const StreamPlace place = rows.place(joined, tokens);
  std::byte* const rings = dynamic_shared<std::byte>();
  std::byte* const x = rings + warp_count() * (Way::stages * Way::stage_bytes);
  float* const of_pieces = reinterpret_cast<float*>(x + joined.x_bytes);
  const Stream stream = {parameters,
                         place,
                         Way::source(parameters, place),
                         rings + warp_index() * (Way::stages * Way::stage_bytes),
                         Way::tiles(joined.parts[rows.part]),
                         warp_index() - team * joined.warps,
                         joined.warps};
  stream.begin();
  float factor = 1;
  const bool prepares_x = One && joined.x_bytes > 0;
  if (prepares_x) {
    factor = Way::prepare_x(parameters, x);
    synchronize_block();
  }
  const unsigned of_team = stream.pieces() * Stream::piece_floats;
  stream.run(prepares_x ? x : nullptr, of_pieces + team * of_team);
  synchronize_block();
  if constexpr (Stream::segment_pieces > 1) {
    join_pieces(of_pieces, joined.is_gated ? 2 : 1, stream.pieces(), Stream::segment_pieces);
  }
  const auto total = [&](const float* sums, unsigned token) {
    const float sum = sum_in_order(sums, stream.segments(), Stream::segment_pieces * Stream::piece_sums,
                                   [](float so_far, unsigned, float next) { return so_far + next; });
    return prepares_x ? sum * factor : Way::finished(parameters, token, sum);
  };
  const unsigned written = joined.has_curve ? 0 : rows.part;
  for (unsigned at = thread_index(); at < tokens.count * warp_columns; at += thread_count()) {
    const unsigned token = tokens.first + at / warp_columns;
    const unsigned column = rows.first_column + at % warp_columns;
    if (at % warp_columns >= place.columns) continue;
    const DeviceProduct& to = joined.parts[written];
    float sum = with_bias(to, column, total(of_pieces + at, token));
    if (joined.has_curve) sum = curve_of(joined.curve, sum);
    if (joined.is_gated) sum = sum * with_bias(joined.parts[1], column, total(of_pieces + of_team + at, token));
    to.y[token * to.y_stride + column] = sum;
  }
}

}  // namespace ingot::device
